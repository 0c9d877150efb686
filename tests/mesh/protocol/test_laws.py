"""Whatever happens to messages, nodes and links, each unit ends once, and none is forgotten."""

from __future__ import annotations

import os

from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from steelyard.mesh.protocol.crew_events import LeaveAsked
from tests.mesh.protocol.world import ENDS, World

PICK = st.integers(0, 10_000)
EXAMPLES = int(os.environ.get("FUZZ", "60"))


class Mesh(RuleBasedStateMachine):
    """Two clients, and nodes that come and go, in a world where anything may happen."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World(clients=2)
        self.troubled = False  # whether a node was given up that may still run units

    def _client(self, pick: int) -> str:
        return f"client{pick % 2}"

    def _node(self, pick: int) -> str:
        nodes = list(self.world.nodes)
        return nodes[pick % len(nodes)]

    def _some_nodes(self) -> bool:
        return bool(self.world.nodes)

    @rule(pick=PICK, function=st.sampled_from(sorted(ENDS)), count=st.integers(1, 12))
    def submit(self, pick: int, function: str, count: int) -> None:
        self.world.submit(self._client(pick), function, count)

    @precondition(lambda self: len(self.world.nodes) < 4)
    @rule(procs=st.integers(1, 3), seen=st.booleans())
    def bear(self, procs: int, seen: bool) -> None:
        node = self.world.bear(procs)
        if seen:
            for client in self.world.clients:
                self.world.meet(client, node)

    @precondition(_some_nodes)
    @rule(pick=PICK)
    def kill(self, pick: int) -> None:
        self.world.kill(self._node(pick))

    @precondition(_some_nodes)
    @rule(pick=PICK, client=PICK, which=st.integers(0, 3))
    def see_or_lose_sight(self, pick: int, client: int, which: int) -> None:
        world, node, one = self.world, self._node(pick), self._client(client)
        self.troubled = self.troubled or which >= 2
        (
            world.node_appears,
            world.client_appears,
            world.node_vanishes,
            world.client_vanishes,
        )[which](one, node)

    @precondition(_some_nodes)
    @rule(pick=PICK)
    def leave(self, pick: int) -> None:
        self.world.tell_crew(self._node(pick), LeaveAsked())

    @rule(client=PICK)
    def notice_the_dead(self, client: int) -> None:
        one = self._client(client)
        for node in list(self.world.clients[one].sees - self.world.nodes.keys()):
            self.world.node_vanishes(one, node)

    @precondition(lambda self: self.world.mail)
    @rule(pick=PICK)
    def deliver(self, pick: int) -> None:
        self.world.deliver(pick % len(self.world.mail))

    @precondition(lambda self: self.world.mail)
    @rule(count=st.integers(1, 30))
    def deliver_in_order(self, count: int) -> None:
        for _ in range(min(count, len(self.world.mail))):
            self.world.deliver()

    @precondition(lambda self: self.world.mail)
    @rule(pick=PICK)
    def repeat(self, pick: int) -> None:
        self.world.repeat(pick % len(self.world.mail))

    @precondition(lambda self: self.world.mail)
    @rule(pick=PICK, silently=st.booleans())
    def lose(self, pick: int, silently: bool) -> None:
        index = pick % len(self.world.mail)
        if self.world.mail[index].to != self.world.mail[index].about:  # a pool loses nothing
            self.troubled = True
            self.world.lose(index, silently=silently)

    @precondition(_some_nodes)
    @rule(pick=PICK, which=PICK)
    def finish(self, pick: int, which: int) -> None:
        node = self._node(pick)
        running = list(self.world.nodes[node].running)
        if running:
            self.world.finish(node, running[which % len(running)])

    @rule(seconds=st.sampled_from([0.001, 0.01, 0.1, 3.0, 11.0]))
    def wait(self, seconds: float) -> None:
        self.world.wait(seconds)

    @invariant()
    def nothing_is_told_twice(self) -> None:
        for client in self.world.clients.values():
            assert all(count == 1 for count in client.told.values())

    def teardown(self) -> None:
        self.world.reunite()
        self.world.rest(30.0)
        assert self.world.at_odds() == []
        self.world.heal()
        for client in self.world.clients.values():
            assert client.told.keys() == client.submitted.keys()
            for number, state in client.ends.items():
                assert state is ENDS[client.submitted[number]]


TestMesh = Mesh.TestCase
TestMesh.settings = settings(
    max_examples=EXAMPLES,
    stateful_step_count=60,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # shrinking would take minutes
)
