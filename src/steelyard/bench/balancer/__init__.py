"""Cost per request: every proxy in front of the same backend, asked by the same client.

    cases       kinds of load: heads, bodies, messages, idle connections
    contenders  the proxies that are measured
    backend     nginx, or an echo of WebSocket messages, behind all of them
    verify      checks that a contender does what it must before it is measured
    wrk, websocket_client, idle   the clients
    round       one contender, one case, once: a sample
    run         all of them, interleaved
    report      samples and their summary; table shows it, page writes it into a document

The proxy has one core to itself, client and backend share another. For each case all contenders are
started at once and asked in turn, so that a disturbance of the machine hits all alike.
"""
