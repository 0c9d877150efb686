"""One request and its answer, between a client and the pool's workers.

exchange      the life of a request: retries, back-pressure, its end
ports         the interface of a client connection that an exchange uses
shared        the objects that all exchanges of a process share
forward       the client's bytes → the worker's bytes.  answer: the worker's → the client's
own_answers   answers of our own: refusals, and OPTIONS
access_log    records of finished requests, for the thread that writes the log
tunnel        the relay that replaces an exchange when both sides switch to another protocol
frames        a parser that finds where WebSocket frames begin and end
dismissal     a Close frame for the WebSockets that the balancer will cut soon
vanished      the end of connections to a worker that vanished without closing them
"""
