"""Clients: their connections from the first byte to the last.

listener           accepts clients from a listening socket
front              what all clients share, and what is counted of them
client             what the rest needs of a client's connection (http1 implements it)
http1              a connection that speaks HTTP/1.1: heads in, one exchange at a time
proxy_header       the PROXY protocol's header, before everything else
handshake          the TLS handshake.  identity: the certificates.  certificate: one of them
lingering_close    the close of a connection by our will, in two steps
shedding           closes idle and slow clients, to make room for others
connection_limit   how many connections a client address may have
minimum_rate       whether a body moves fast enough
total_timeout      ends exchanges that take too long as a whole
"""
