"""Units of work over nodes that pull them from each other, with no broker and no head node.

protocol   pure: a client's desk and a node's crew; what they say to each other
execution  runs units in child processes; a crash, a hang or an excess hurts only its unit
transport  how nodes find, ask and answer each other: zenoh, and one in memory for tests
"""
