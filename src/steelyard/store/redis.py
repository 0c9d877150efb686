"""The store for more than one machine: a Redis server.

Changes go in one script each time, so that they take one round trip and arrive whole or not at
all. A connection that broke is made anew by the next call; how long to wait before that is the
writer's business. The keys are in redis_keys, the words for what can go wrong in redis_errors.
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
from steelyard.store.redis_errors import explain
from steelyard.store.redis_keys import Keys
from steelyard.store.url import without_secrets

CONNECTIONS = 4

# Keys: workers, limits. Arguments: the limits or nothing, then pairs of field and record;
# an empty record is deleted.
WRITE = """
if ARGV[1] ~= '' then redis.call('SET', KEYS[2], ARGV[1]) end
for i = 2, #ARGV, 2 do
    if ARGV[i + 1] == '' then redis.call('HDEL', KEYS[1], ARGV[i])
    else redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1]) end
end
"""


class RedisStore:
    """Keeps the records of one application under keys of its own."""

    def __init__(self, application: str, url: str, patience: float = 2.0) -> None:
        self.url = without_secrets(url)
        self._application = application
        self._keys = Keys(application)
        self._client = Redis(connection_pool=self._pool(url, patience))

    async def open(self) -> None:
        """Connect, so that what is wrong with the URL is told early."""
        await self._ask("PING")

    async def close(self) -> None:
        """Let go; records stay."""
        await self._client.connection_pool.disconnect()

    async def workers(self) -> list[WorkerRecord]:
        """Every record of this application, by name."""
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

    async def write(self, changes: Sequence[Change]) -> None:
        """Make these changes, all or none of them."""
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
        await self._ask("EVAL", WRITE, 2, keys.workers, keys.limits, limits, *fields)

    async def _ask(self, *words: str | int) -> Any:
        try:
            return await self._client.execute_command(*words)  # type: ignore[no-untyped-call]
        except (RedisError, OSError) as error:  # OSError: a file that TLS needs
            raise explain(error, self.url) from error

    def _pool(self, url: str, patience: float) -> BlockingConnectionPool:
        """What the URL says wins over our defaults: `?socket_timeout=10`."""
        try:
            pool = BlockingConnectionPool.from_url(
                url,
                max_connections=CONNECTIONS,
                decode_responses=True,
                socket_timeout=patience,
                socket_connect_timeout=patience,
                # Once, at once: a pooled connection may be of a server that was restarted since.
                retry=Retry(NoBackoff(), 1, (BrokenConnectionError,)),
            )
            # This does not connect, but looks at every option.
            pool.make_connection()  # type: ignore[no-untyped-call]
        except (TypeError, ValueError) as error:
            raise UsageError(
                f"store {self.url} cannot be understood: {error}",
                hint="for instance redis://127.0.0.1:6379/0, or rediss://:PASSWORD@HOST",
            ) from error
        return pool
