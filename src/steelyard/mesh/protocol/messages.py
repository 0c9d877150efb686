"""What goes over the wire: a node pulls, the client grants; a client stops, and the node obeys.

One query carries everything a node has to say to a client (results, what it has, what it wants),
and its answer everything the client has to say to the node. All are plain tuples. Durations only:
no two machines have the same clock.
"""

from __future__ import annotations

from typing import NamedTuple

from steelyard.mesh.execution.outcome import Kind

VERSION = 2  # of these messages; nodes of another one are told apart by what they announce


class Order(NamedTuple):
    """A unit on its way to a node. Numbers are never used twice in a client's life."""

    number: int
    function: str
    arguments: bytes
    deadline: float | None = None  # seconds it may run
    memory: int | None = None


class Result(NamedTuple):
    """What became of a unit at a node."""

    number: int
    kind: Kind
    value: bytes = b""
    output: bytes = b""
    seconds: float = 0.0
    run: int = 0  # which of the node's; the same when it is told again


class Pull(NamedTuple):
    """A node's word to a client, which is all of what the client needs to know about the node.

    `serial` grows with each pull of a node. All pulls up to `seen` are closed: answered, or given
    up so that an answer would be ignored. So a unit that was granted to a pull up to `seen` and is
    not in `holding` is not at this node. Results that are on their way are not in `holding`.
    """

    serial: int
    seen: int
    want: int  # units, at most
    idle: int  # of these, so many would start at once
    park: bool  # answer when there is work for us, not before
    holding: tuple[int, ...] = ()
    results: tuple[Result, ...] = ()


class Grant(NamedTuple):
    """The answer to a pull, and with it the word that its results have arrived."""

    orders: tuple[Order, ...] = ()
    more: bool = False  # there are units that nobody has, for children with nothing to do
    stop: tuple[int, ...] = ()  # what nobody wants any more


class Offer(NamedTuple):
    """What a node announces: how many children it has, and what they may run."""

    procs: int
    functions: frozenset[str]  # module:function
