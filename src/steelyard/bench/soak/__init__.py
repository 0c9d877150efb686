"""Soak: as many requests as the machine's client can send, while workers come and go.

    worker   nginx as a worker: cheap, so that the balancer is under load
    gateway  a real `steelyard up`, and operations on its workers
    events   the events and their order: killed, added, drained, removed
    client   wrk, which counts every kind of failure
    soak     the run; report: its result; table: the result as cells

Every request is a GET, hence may be repeated: none may fail.
"""
