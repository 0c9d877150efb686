"""The proxies that are compared: one file each, all with the same duties.

All add X-Forwarded-For, X-Forwarded-Proto and Via to requests, and Via to answers; log nothing;
keep connections alive on both sides; have one worker or thread.

    base            the contract: a site to serve, a command that serves it
    ours            the balancer of this package, pure and compiled
    nginx, haproxy, caddy
    aiohttp_proxy   a proxy as one would write it in Python; aiohttp_server is its program
"""
