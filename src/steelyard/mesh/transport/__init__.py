"""How nodes find, ask and answer each other.

base       the contract: a link's identity, ask and serve, announce and watch
memory     links in one process; drops, delays, duplicates and partitions on demand, for tests
zenoh      links between machines
"""

from steelyard.mesh.transport.base import Link, Peer, Query

__all__ = ["Link", "Peer", "Query"]
