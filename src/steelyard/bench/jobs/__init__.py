"""One job on real processes: pushed by `steelyard balancer`, or pulled by nodes of the mesh.

work     a unit: it sleeps, longer on a slow node, and logs when
server   a node that takes units over HTTP, one at a time
diary    what nodes logged: when each was busy, and which work was done for nothing
order    a job and its outcome
pushed   a job under a balancer
pulled   a job on the mesh
"""
