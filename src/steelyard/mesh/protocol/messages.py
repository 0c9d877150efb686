"""The messages on the wire: a node pulls and the client grants; a client stops units and the node
obeys.

One query carries everything a node has to say to a client (results, what it has, what it wants),
and its answer everything the client has to say to the node. All are plain tuples. Times are
durations only: no two machines have the same clock.
"""

from __future__ import annotations

from typing import NamedTuple

from steelyard.mesh.execution.outcome import Kind

VERSION = 2  # of these messages; each side announces its version, and does not work with another


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
    run: int = 0  # the node's number of this run, the same if the result is sent twice


class Pull(NamedTuple):
    """A node's message to a client, with all that the client needs to know about the node.

    `serial` grows with each pull of a node. All pulls up to `seen` are closed: answered, or given
    up so that an answer would be ignored. So a unit that was granted to a pull up to `seen` and is
    not in `holding` is not at this node. Units whose results are on their way are not in `holding`.
    """

    serial: int
    seen: int
    want: int  # units wanted, at most
    idle: int  # of these, units that would start at once
    park: bool  # answer only when there is work for us
    holding: tuple[int, ...] = ()
    results: tuple[Result, ...] = ()


class Grant(NamedTuple):
    """The answer to a pull; it also confirms that the pull's results have arrived."""

    orders: tuple[Order, ...] = ()
    more: bool = False  # there are queued units left, for a node with idle children
    stop: tuple[int, ...] = ()  # units that are no longer wanted


class Offer(NamedTuple):
    """What a node announces: how many children it has, and what they may run."""

    procs: int
    functions: frozenset[str]  # as module:function
