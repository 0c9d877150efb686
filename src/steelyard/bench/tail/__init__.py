"""Tail latency with unequal workers: what a policy costs the slowest requests.

    workers     four servers in one process, each one request at a time, exponential service times
    client      asks at Poisson times, whether or not the answers come (open loop)
    contenders  our policies by name, nginx and HAProxy
    bench       interleaved rounds; report: their figures

Service rates are 100 : 50 : 25 : 5, and requests come at 70 % of what the workers can do. The
proxies are not told the rates, unless `--weights true`. η = min(r_i/w_i) / max(r_i/w_i), with r_i
the requests that worker i got and w_i its rate: 1 when shares follow rates exactly. A policy that
looks at how busy workers are may well do better with a smaller η.
"""
