"""Tail latency with unequal workers: what a way to choose costs those who are unlucky.

    workers     four servers in one process, each one request at a time, exponential service times
    client      asks at Poisson times, whether or not the answers come (open loop)
    contenders  our policies by name, nginx and HAProxy
    bench       rounds, interleaved; report is what they say

All are told the true weights (100 : 50 : 25 : 5), and get 70 % of what the workers can do.
η = min(r_i/w_i) / max(r_i/w_i), with r_i the requests that worker i got and w_i its weight: 1 when
shares follow weights exactly. A policy that looks at who is busy may well do better with less.
"""
