"""Makes links that are missing: Zenoh itself links a node only when it joins.

Zenoh cannot be told to connect to a node. But its peers connect to nodes that they hear of. So an
extra session, the introducer, connects to both sides for a moment, both hear of each other, and the
session closes.
"""

from __future__ import annotations

import json
import logging
import random
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

import zenoh

from steelyard.mesh.transport.acquaintances import Acquaintances, Missing
from steelyard.mesh.transport.reach import Reach
from steelyard.mesh.transport.zenoh.keys import Keys, read_bye, read_node
from steelyard.mesh.transport.zenoh.sockets import Hasten, cut, ends_of

log = logging.getLogger(__name__)

SOONEST, LATEST = 1.0, 5.0  # seconds between comparisons: after a change, and when all is quiet
PATIENCE = 0.4  # seconds for a connection: less than TCP waits before it repeats a lost SYN
INTRODUCTION = 1.0  # seconds that an introducer lives, at most
DEAF = 10.0  # seconds after which a link that has brought no announcement never will

Configure = Callable[[Sequence[str]], zenoh.Config]
OnNode = Callable[[str], None]


class Healing:
    """Watches the nodes of a mesh, and makes the links that are missing."""

    def __init__(
        self,
        session: zenoh.Session,
        keys: Keys,
        own: str,
        configure: Configure,
        on_gone: OnNode,
        on_stranger: Callable[[str, str], None],
    ) -> None:
        self._session, self._keys, self._own = session, keys, own
        self._configure, self._on_gone, self._on_stranger = configure, on_gone, on_stranger
        self._identity = str(session.zid())
        self._known = Acquaintances(self._identity)
        self._changed = threading.Condition()  # guards `_known`
        self._random = random.Random()
        self._reach = Reach()
        self._closed = False
        self.healed = 0  # links made
        self.cuts = 0  # links that brought nothing and were cut
        self._pause = SOONEST
        self._compared = time.monotonic()
        self._thread = threading.Thread(target=self._run, name="steelyard-healing", daemon=True)

    def start(self, locators: list[str]) -> None:
        """Announce this node and watch the others."""
        direct = zenoh.handlers.Callback
        answer = direct(self._answer, indirect=False)
        self._here = set(locators)
        key = self._keys.peers(self._identity)
        self._queryable = self._session.declare_queryable(key, answer, complete=True)
        self._byes = self._session.declare_subscriber(
            self._keys.byes, direct(self._hear_bye, indirect=False)
        )
        liveliness = self._session.liveliness()
        self._nodes = liveliness.declare_subscriber(
            self._keys.nodes, direct(self._see, indirect=False), history=True
        )
        self._token = liveliness.declare_token(self._keys.node(self._identity, locators))
        self._thread.start()

    @property
    def linked(self) -> list[str]:
        with self._changed:
            return list(self._known.linked)

    def close(self) -> None:
        """Say good-bye and stop."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._session.put(self._keys.bye(self._identity), b"")
        self._token.undeclare()
        self._thread.join()

    def _see(self, sample: zenoh.Sample) -> None:
        try:
            node = read_node(str(sample.key_expr))
        except ValueError:
            return
        if node.identity == self._identity:
            return
        if node.version != self._keys.version:
            self._on_stranger(node.identity, node.version)
            return
        here, now = sample.kind == zenoh.SampleKind.PUT, time.monotonic()
        with self._changed:
            self._pause = SOONEST
            if here:
                self._known.appear(node.identity, node.locators, now)
            else:
                self._known.vanish(node.identity, now)
            self._changed.notify_all()
        if not here:
            self._on_gone(node.identity)

    def _hear_bye(self, sample: zenoh.Sample) -> None:
        with self._changed:
            self._known.leave(read_bye(str(sample.key_expr)))

    def _answer(self, query: zenoh.Query) -> None:
        """Answer a neighbour that compares: with nothing if it sees what we see, or else with our
        links.
        """
        theirs = query.payload.to_bytes() if query.payload is not None else b""
        with self._changed:
            same = theirs == self._known.digest()
            seen = {} if same else dict(self._known.linked)
        query.reply(query.key_expr, json.dumps(seen).encode())
        query.drop()

    def _compare(self) -> None:
        with self._changed:
            linked = list(self._known.linked)
            digest, settled = self._known.digest(), self._known.settled(time.monotonic())
        if linked and settled:
            self._session.get(
                self._keys.peers(self._random.choice(linked)),
                zenoh.handlers.Callback(self._hear, indirect=False),
                payload=digest,
                timeout=SOONEST,
            )

    def _hear(self, reply: zenoh.Reply) -> None:
        if reply.ok is None:
            return
        seen = json.loads(reply.ok.payload.to_bytes())
        with self._changed:
            for identity, locators in seen.items():
                self._known.hear(identity, tuple(locators), time.monotonic())
            self._changed.notify_all()

    def _run(self) -> None:
        while not self._closed:
            try:
                self._round()
            except (OSError, zenoh.ZError) as error:  # for instance, too many files are open
                log.warning("links that are missing cannot be made now: %s", error)
                with self._changed:
                    self._changed.wait_for(lambda: self._closed, SOONEST)

    def _round(self) -> None:
        """Wait until something is due, and do it."""
        with self._changed:
            wake = self._compared + self._pause
            if (due := self._known.next_due()) is not None:
                wake = min(wake, due)
            if not self._closed and (left := wake - time.monotonic()) > 0:
                self._changed.wait(left)
            if self._closed:
                return
            now = time.monotonic()
            missing = self._known.due(now)
        if missing:
            self._try(missing)
        if now - self._compared >= self._pause:
            self._compared = now
            self._pause = min(LATEST, 1.5 * self._pause)
            self._compare()

    def _try(self, missing: Sequence[Missing]) -> None:
        missing = self._without_link(missing)
        named = {one for node in missing for one in node.locators}
        named -= self._here  # on loopback we would connect to ourselves
        found = self._reach.reachable(named, PATIENCE)
        if not found or self._closed:
            return
        wanted = {node.identity for node in missing if found & set(node.locators)}
        with suppress(zenoh.ZError), zenoh.open(self._configure([self._own, *found])) as between:
            self._hasten = Hasten(between)
            with self._changed:
                self._changed.wait_for(lambda: self._closed or self._are_here(wanted), INTRODUCTION)
                self.healed += len(wanted & self._known.linked.keys())

    def _without_link(self, missing: Sequence[Missing]) -> list[Missing]:
        """The missing nodes that Zenoh has no link to. If it has one, the node's announcement is on
        its way, or is lost.

        When many nodes join at once, some links come up and never bring what the other side
        declared (seen with Zenoh 1.10.2, from 60 nodes on). Such a link is cut, and made anew. A
        link that still brings nothing may lead to a node that is not allowed to speak to us
        (--member): it is cut less and less often.
        """
        linked = {str(one) for one in self._session.info.peers_zid()}
        now = time.monotonic()
        for node in missing:
            if node.identity in linked and now - max(node.since, node.cut) > DEAF * 2**node.cuts:
                node.cut, node.cuts = now, node.cuts + 1
                self._cut(node.identity)
        return [node for node in missing if node.identity not in linked]

    def _cut(self, identity: str) -> None:
        for link in self._session.info.links():
            if str(link.zid) == identity:
                cut(ends_of(link))
                self.cuts += 1

    def _are_here(self, wanted: set[str]) -> bool:
        return not wanted & set(self._known.missing)
