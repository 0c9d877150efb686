"""The store for more than one machine: a Redis server.

Each write is one script: one round trip, no reader sees half of it, and the lease is checked in the
same step. After a break, the next call connects anew; how long to wait before that is up to the
caller. The keys are in redis_keys, the texts of errors in redis_errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError
from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as BrokenConnectionError
from redis.exceptions import RedisError

from steelyard.core.commands import Change, Forget, Save, SaveLimits
from steelyard.core.record import LimitsRecord, WorkerRecord, record_key
from steelyard.errors import UsageError
from steelyard.store.base import LeaseError
from steelyard.store.redis_errors import explain
from steelyard.store.redis_keys import Keys
from steelyard.store.url import without_secrets

CONNECTIONS = 4

# Keys: lease, workers, limits. Arguments: the holder that must have the lease, or ''; the limits,
# or ''; then pairs of field and record. An empty record is deleted.
WRITE = """
if ARGV[1] ~= '' and redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[2] ~= '' then redis.call('SET', KEYS[3], ARGV[2]) end
for i = 3, #ARGV, 2 do
    if ARGV[i + 1] == '' then redis.call('HDEL', KEYS[2], ARGV[i])
    else redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1]) end
end
return 1
"""

# Key: lease. Arguments: the holder that asks, and for how many milliseconds.
CLAIM = """
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return holder end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return ARGV[1]
"""

RELEASE = """
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
"""


class RedisStore:
    """Keeps the records of one application under keys of its own."""

    def __init__(self, application: str, url: str, patience: float = 2.0) -> None:
        self.url = without_secrets(url)
        self._application = application
        self._keys = Keys(application)
        self._client = Redis(connection_pool=self._pool(url, patience))

    async def open(self) -> None:
        """Connect, so that an error in the URL is reported early."""
        await self._ask("PING")

    async def close(self) -> None:
        """Close the connections; records stay."""
        await self._client.connection_pool.disconnect()

    async def workers(self) -> list[WorkerRecord]:
        """Every record of this application, in the order of their names."""
        found: dict[str, str] = await self._ask("HGETALL", self._keys.workers)
        try:
            records = [WorkerRecord.model_validate_json(text) for text in found.values()]
        except ValidationError as error:
            raise explain(error, self.url) from error
        return sorted(records, key=lambda record: record.name)

    async def limits(self) -> LimitsRecord | None:
        """The limits set at run time, if any were."""
        text: str | None = await self._ask("GET", self._keys.limits)
        try:
            return None if text is None else LimitsRecord.model_validate_json(text)
        except ValidationError as error:
            raise explain(error, self.url) from error

    async def write(self, changes: Sequence[Change], holder: str = "") -> None:
        """Make these changes in order, in one script."""
        limits, fields = "", list[str]()
        for change in changes:
            match change:
                case Save(record):
                    fields += [record.key, record.model_dump_json()]
                case Forget(name):
                    fields += [record_key(self._application, name), ""]
                case SaveLimits(found):
                    limits = found.model_dump_json()
        keys = self._keys
        where = (keys.lease, keys.workers, keys.limits)
        if not await self._ask("EVAL", WRITE, 3, *where, holder, limits, *fields):
            raise LeaseError(holder)

    async def claim(self, holder: str, seconds: float) -> str:
        """Ask for the lease; return its holder after that."""
        span = int(seconds * 1000)
        return str(await self._ask("EVAL", CLAIM, 1, self._keys.lease, holder, span))

    async def release(self, holder: str) -> None:
        """Give the lease back, if this holder has it."""
        await self._ask("EVAL", RELEASE, 1, self._keys.lease, holder)

    async def _ask(self, *words: str | int) -> Any:
        try:
            return await self._client.execute_command(*words)  # type: ignore[no-untyped-call]
        except (RedisError, OSError) as error:  # OSError: a file that TLS needs is missing
            raise explain(error, self.url) from error

    def _pool(self, url: str, patience: float) -> BlockingConnectionPool:
        """Make the connection pool. Options in the URL, such as `?socket_timeout=10`, override our
        defaults.
        """
        try:
            pool = BlockingConnectionPool.from_url(
                url,
                max_connections=CONNECTIONS,
                decode_responses=True,
                socket_timeout=patience,
                socket_connect_timeout=patience,
                # Retry once, at once: the server may have been restarted since the pool made the
                # connection.
                retry=Retry(NoBackoff(), 1, (BrokenConnectionError,)),
            )
            # This does not connect, but checks every option.
            pool.make_connection()  # type: ignore[no-untyped-call]
        except (TypeError, ValueError) as error:
            raise UsageError(
                f"the store's URL {self.url} cannot be understood: {error}",
                hint="for instance redis://127.0.0.1:6379/0, or rediss://:PASSWORD@HOST",
            ) from error
        return pool
