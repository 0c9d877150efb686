"""The protocol of the mesh. It is pure: events in, commands out; no clock, network, process or log.

machine    the base class of desk and crew
messages   the messages on the wire: a pull and its answer, a grant
task       a unit as its client knows it, and the rules of its function
lifecycle  the life of a unit, as a table
desk       the client's side: which node has which unit, and what each node gets (todo, nodes,
           parking, hedging, avoidance, unserved, expiry)
times      how long recent units took
standing   what a node knows of a client's work, as a table
crew       the node's side: which client's unit is next, and which client to ask for more
           (customer, stock)
"""
