"""The engines of other nodes are reached as configured, or a note says that they are not."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from aiodocker import Docker

from steelyard.runtime.engine.connection import connect
from steelyard.runtime.swarm.cluster import Node
from steelyard.runtime.swarm.engines import UNSEEN, Engines
from tests.docker.swarm import Swarm

pytestmark = pytest.mark.needs("swarm")
OWN = Node("n1", "oak", "192.0.2.1", down=False)
OTHER = Node("n2", "docker", "192.0.2.2", down=False)  # named like the socket of the tests' engine
AWAY = Node("n3", "elm", "192.0.2.3", down=False)


@pytest.fixture
async def client(swarm: Swarm) -> AsyncIterator[Docker]:
    found, _ = await connect()
    yield found
    await found.close()


async def test_our_own_is_all_there_is_unless_told(client: Docker) -> None:
    """Nodes that cannot be measured are noted once, not at each start."""
    engines = Engines(None)
    engines.open(OWN.id, client)
    assert await engines.of(OWN) is client
    assert engines.notes == []
    assert await engines.of(OTHER) is None
    assert await engines.of(AWAY) is None
    assert engines.notes == [UNSEEN]
    await engines.close()


async def test_others_are_where_the_setting_says(swarm: Swarm, client: Docker) -> None:
    """The setting gives the address by the node's name; there is one connection per node."""
    engines = Engines(f"unix://{swarm.manager.folder}/{{name}}.sock")
    engines.open(OWN.id, client)
    other = await engines.of(OTHER)
    assert other is not None
    assert (await other.system.info())["Swarm"]["ControlAvailable"]
    assert await engines.of(OTHER) is other
    assert await engines.of(AWAY) is None
    [note] = engines.notes
    assert note.startswith(
        f"the usage of workers on node elm is not measured: no Docker engine at "
        f"unix://{swarm.manager.folder}/elm.sock"
    )
    await engines.close()
    await client.system.info()  # our own connection is still open
