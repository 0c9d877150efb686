"""One job on real processes: pushed by `steelyard balancer`, or pulled by nodes of the mesh.

work     a unit: it sleeps, as long as its node is slow, and writes down when
server   a node that takes units over HTTP, one at a time
diary    what nodes wrote down: who was busy, and what was done for nothing
order    a job as it is given, and what became of it
pushed   under a balancer
pulled   on the mesh
"""
