"""The protocol of the mesh, pure: events in, commands out; no clock, network, process or log.

machine    what a desk and a crew have in common
messages   what goes over the wire: a pull and its answer, a grant
task       a unit as its client knows it, and the rules of its function
lifecycle  the life of a unit, as a table
desk       a client's side: who has which unit, and what each node gets (todo, nodes, parking,
           hedging, avoidance, unserved, expiry)
times      how long units took, of late
standing   what a node knows of a client's work, as a table
crew       a node's side: which client's unit is next, and whom to ask for more (customer, stock)
"""
