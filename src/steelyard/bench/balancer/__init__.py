"""Cost per request: every proxy in front of the same backend, asked by the same client.

    cases       what is asked: heads, bodies, messages, idle connections
    contenders  who is asked
    backend     nginx, or an echo of WebSocket messages, behind all of them
    verify      whether a contender does what it must before it is measured
    wrk, websocket_client, idle   the clients
    round       one contender, one case, once: a sample
    run         all of them, interleaved
    report      samples and what they sum up to; table shows it, page writes it down

The proxy has one core to itself, client and backend share another. For each case all contenders
are started at once and asked in turn, so that what disturbs the machine disturbs all alike.
"""
