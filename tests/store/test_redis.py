"""Failures of a server: away, hung, locked, foreign; each error says what to do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from steelyard.core.commands import Save, SaveLimits
from steelyard.core.record import LimitsRecord, record_key
from steelyard.errors import Fault, StoreError
from steelyard.store.redis import RedisStore
from tests.balancer.authority import issue, root_file
from tests.contract.test_store_contract import record
from tests.redis_server import RedisServer

pytestmark = pytest.mark.needs("redis")


@pytest.fixture
async def store(redis_server: RedisServer) -> AsyncIterator[RedisStore]:
    found = RedisStore("app", redis_server.url)
    yield found
    await found.close()


@pytest.fixture
def own(tmp_path: Path) -> Iterator[RedisServer]:
    """A server that the test may stop."""
    with RedisServer(tmp_path) as server:
        yield server


async def refused(url: str, patience: float = 2.0) -> StoreError:
    """The error for a URL that does not work."""
    store = RedisStore("app", url, patience)
    with pytest.raises(StoreError) as told:
        await store.open()
    await store.close()
    return told.value


async def test_the_layout_is_the_one_written_down(
    store: RedisStore, redis_server: RedisServer
) -> None:
    """The store uses two keys under the application's prefix."""
    limits = LimitsRecord(min=1, max=2, configured_min=3, configured_max=4)
    await store.write([Save(record("one")), SaveLimits(limits)])
    assert sorted(redis_server.ask("KEYS", "*")) == [
        "steelyard:1:{app}:limits",
        "steelyard:1:{app}:workers",
    ]
    assert redis_server.ask("HKEYS", "steelyard:1:{app}:workers") == [record_key("app", "one")]


async def test_nothing_walks_the_keyspace_and_a_write_is_one_command(
    store: RedisStore, redis_server: RedisServer
) -> None:
    """A write is one command, and no command walks the keyspace, by the server's own counts."""
    redis_server.ask("CONFIG", "RESETSTAT")
    await store.write([Save(record(f"w{number}")) for number in range(20)])
    await store.workers()
    await store.limits()
    told = redis_server.ask("INFO", "commandstats")
    assert told["cmdstat_eval"]["calls"] == 1
    assert told["cmdstat_hset"]["calls"] == 20  # called by the script
    assert not {"cmdstat_keys", "cmdstat_scan", "cmdstat_hscan"} & told.keys()


async def test_many_writers_need_few_connections(
    store: RedisStore, redis_server: RedisServer
) -> None:
    """Calls wait for each other instead of opening a connection each."""
    before = redis_server.ask("INFO", "stats")["total_connections_received"]
    await asyncio.gather(*(store.write([Save(record(f"w{n}"))]) for n in range(50)))
    after = redis_server.ask("INFO", "stats")["total_connections_received"]
    assert after - before <= 4 + 1  # plus the connection that asked


async def test_a_restarted_server_is_used_at_once(own: RedisServer) -> None:
    """Connections to the server before its restart are not used for the new one."""
    store = RedisStore("app", own.url)
    await store.write([Save(record("one"))])
    own.stop()
    with pytest.raises(StoreError, match="does a server run there"):
        await store.write([Save(record("two"))])
    own.start()
    await store.write([Save(record("three"))])
    own.stop()
    own.start()  # this time no call came between
    await store.write([Save(record("four"))])
    assert await store.workers() == [record("four")]
    await store.close()


async def test_a_hung_server_is_given_up_and_used_again(own: RedisServer) -> None:
    """No call waits for a hung server for longer than its patience."""
    store = RedisStore("app", own.url, patience=0.2)
    await store.open()
    own.freeze()
    with pytest.raises(StoreError, match="overloaded"):
        await store.workers()
    own.thaw()
    assert await store.workers() == []
    await store.close()


async def test_the_password(tmp_path: Path) -> None:
    """A missing or wrong password is the user's fault, and is not repeated in the error."""
    with RedisServer(tmp_path, "--requirepass", "right") as server:
        for url in (server.url, server.url.replace("//", "//:wrong@")):
            told = await refused(url)
            assert told.fault is Fault.USER
            assert "password into the URL" in str(told)
            assert "wrong@" not in str(told)
        store = RedisStore("app", server.url.replace("//", "//:right@"))
        await store.write([Save(record("one"))])
        assert await store.workers() == [record("one")]
        await store.close()


async def test_tls(tmp_path: Path) -> None:
    """TLS works if the URL names the authority; otherwise the error is about the certificate or
    TLS.
    """
    certificate, key = issue(tmp_path, "127.0.0.1")
    flags = ("--tls-cert-file", str(certificate), "--tls-key-file", str(key))
    flags += ("--tls-auth-clients", "no")
    with RedisServer(tmp_path, *flags, scheme="rediss") as server:
        unknown = await refused(server.url)
        assert unknown.fault is Fault.USER
        assert "ssl_ca_certs" in str(unknown)
        plain = await refused(server.url.replace("rediss", "redis"), patience=0.5)
        assert "rediss://" in str(plain)
        absent = await refused(f"{server.url}?ssl_ca_certs={tmp_path / 'absent.pem'}")
        assert "does not exist" in str(absent)
        store = RedisStore("app", f"{server.url}?ssl_ca_certs={root_file(tmp_path)}")
        await store.write([Save(record("one"))])
        assert await store.workers() == [record("one")]
        await store.close()


async def test_tls_to_a_server_without_it(redis_server: RedisServer) -> None:
    """A server without TLS waits for a command while we wait for its certificate."""
    told = await refused(redis_server.url.replace("redis", "rediss"), patience=0.2)
    assert "only one side speak TLS" in str(told)


async def test_no_such_database(redis_server: RedisServer) -> None:
    """The number of a database that does not exist is reported."""
    assert "another database" in str(await refused(f"{redis_server.url}/9999"))


async def test_keys_of_somebody_else(store: RedisStore, redis_server: RedisServer) -> None:
    """A value of another type under our key is reported, and left as it is."""
    redis_server.ask("SET", "steelyard:1:{app}:workers", "mine")
    for work in (store.workers(), store.write([Save(record("one"))])):
        with pytest.raises(StoreError, match="somebody else") as told:
            await work
        assert told.value.fault is Fault.USER
    assert redis_server.ask("GET", "steelyard:1:{app}:workers") == "mine"


async def test_record_changed_by_hand(store: RedisStore, redis_server: RedisServer) -> None:
    """A record that makes no sense is an error of the store, not a crash."""
    redis_server.ask("HSET", "steelyard:1:{app}:workers", "x", "{}")
    redis_server.ask("SET", "steelyard:1:{app}:limits", "3")
    for read in (store.workers(), store.limits()):
        with pytest.raises(StoreError, match="changed by hand"):
            await read


async def test_a_full_server(store: RedisStore, redis_server: RedisServer) -> None:
    """A full server can be read, and the error of a write says which limit to raise."""
    redis_server.ask("CONFIG", "SET", "maxmemory", "1")
    try:
        with pytest.raises(StoreError, match="maxmemory"):
            await store.write([Save(record("one"))])
        assert await store.workers() == []
    finally:
        redis_server.ask("CONFIG", "SET", "maxmemory", "0")


async def test_a_replica(own: RedisServer, redis_server: RedisServer) -> None:
    """Writing to a replica is an error."""
    own.ask("REPLICAOF", "127.0.0.1", str(redis_server.port))
    store = RedisStore("app", own.url)
    with pytest.raises(StoreError, match="the server is a replica"):
        await store.write([Save(record("one"))])
    await store.close()
