"""Links between machines, over Eclipse Zenoh in peer mode.

link       a node's end: what the contract says
config     what Zenoh is told, and why
keys       the names it uses
asking, serving    queries out, queries in
presence   who is there, and as what
healing    links that a cut has left missing are made again
doubts     says why nobody can be joined
sockets    a cut is noticed in time
threads    what Zenoh's cost Python
"""
