"""One request and its answer, between a client and the pool's workers.

exchange      the life of a request: retries, back-pressure, its end
ports         what an exchange needs of the client's connection
shared        what all exchanges of a process share
forward       the client's bytes → the worker's bytes.  answer: the worker's → the client's
own_answers   answers of our own: refusals, and OPTIONS
access_log    notes of finished requests, for the thread that writes them down
tunnel        what an exchange becomes when both sides agree to another protocol
frames        where the frames of a WebSocket begin and end
dismissal     tunnels that must end soon are closed politely
vanished      connections to a worker that ended without closing them
"""
