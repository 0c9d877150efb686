"""Downstream: the connections of clients, from the first byte to the last.

listener           accepts clients from a listening socket
front              the objects, limits and counters that all clients share
client             the interface of a client's connection (http1 implements it)
http1              a connection that speaks HTTP/1.1: reads heads, has one exchange at a time
proxy_header       reads the PROXY protocol's header, before everything else
handshake          the TLS handshake.  identity: all certificates.  certificate: reads one of them
lingering_close    closes a connection in two steps, when the balancer ends it
shedding           closes idle and slow clients, to make room for others
connection_limit   limits the connections per client address
minimum_rate       checks whether a body moves fast enough
total_timeout      ends exchanges that take longer than the total time limit
"""
