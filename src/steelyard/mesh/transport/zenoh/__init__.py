"""Links between machines, over Eclipse Zenoh in peer mode.

link       a node's end of the mesh: the contract of `base`
config     Zenoh's settings, and their reasons
keys       the names under which nodes and roles are known to Zenoh
asking, serving    queries out, queries in
presence   which links are there, and in which roles
healing    makes links that a cut has left missing
doubts     says why no node can be joined
complaints tells in our log why a peer was turned away
sockets    makes the kernel notice a cut in time
threads    fewer of Zenoh's threads, at less cost to Python
"""
