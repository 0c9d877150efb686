"""How nodes find, ask and answer each other.

base       the contract: a link's identity, ask and serve, announce and watch
memory     links in one process; drops, delays, duplicates and partitions on demand, for tests
zenoh      links between machines

Modules that transports share: endpoints and security (where nodes listen, and who may join),
acquaintances (pure: which nodes should be linked), reach (whether an address accepts connections),
diagnosis (why there is no link), chunks (large messages), later (callbacks in order).
"""

from steelyard.mesh.transport.base import Link, Peer, Query

__all__ = ["Link", "Peer", "Query"]
