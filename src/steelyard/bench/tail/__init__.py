"""Tail latency with unequal workers: what a way to choose costs those who are unlucky.

    workers     four servers in one process, each one request at a time, exponential service times
    client      asks at Poisson times, whether or not the answers come (open loop)
    contenders  our policies by name, nginx and HAProxy
    bench       rounds, interleaved; report is what they say

Service rates are 100 : 50 : 25 : 5, and requests come at 70 % of what the workers can do. Nobody is
told the rates, unless `--weights true`. η = min(r_i/w_i) / max(r_i/w_i), with r_i the requests that
worker i got and w_i its rate: 1 when shares follow rates exactly. A policy that looks at who is
busy may well do better with less.
"""
