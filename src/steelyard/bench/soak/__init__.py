"""Soak: as many requests as the machine's client can send, while workers come and go.

    worker   nginx as a worker: cheap, so that the balancer is what is under load
    gateway  a real `steelyard up`, and what is done to its workers
    events   what happens, in which order: killed, added, drained, removed
    client   wrk, which counts every kind of failure
    soak     all of it for a while; report: what came of it, table: shown

Every request is a GET, hence may be repeated: none may fail.
"""
