"""The workers of one application: which worker gets a request, and over which connection.

pool           all of it as one object: table, budget, ejection, sessions, estimates, waiting
requester      one request, as the pool sees it (an exchange implements it)
attempts       which worker a request is tried at, and which next when that one fails
table          which workers get new requests; the directory that makes tables from queues
worker         one worker: address, counts, idle connections.  guard: whose socket answers there
upstream       one connection to a worker
counters       what a worker has to do and has done; the bell that wakes the control thread
latency        estimates of how long each worker takes
slow_start     the weight of a new worker
ejection       workers that are left alone for a while after failures
retry_budget   how many retries the recent traffic allows
waiting        requests that wait for a worker with room
sticky         sessions that stay with one worker, by a cookie
limits         settings that are asked for with every request, in plain attributes
"""
