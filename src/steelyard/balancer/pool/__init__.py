"""The workers of one application: chooses the worker and the connection for each request.

pool           the object that holds the parts below for one application
requester      the interface of a request for the pool (an exchange implements it)
attempts       chooses a worker for a request, and another one when the first fails
table          the workers that get new requests; the directory that makes tables from queues
worker         one worker: address, counts, idle connections.  guard: checks who owns its port
upstream       one connection to a worker
counters       counts of a worker's exchanges; the bell that wakes the control thread
latency        estimates of how long each worker takes to answer
slow_start     raises the weight of a new worker step by step
ejection       excludes workers for a while after failures
retry_budget   limits retries to a share of the recent requests
waiting        requests that wait for a worker with room
sticky         keeps a client's session with one worker, by a cookie
limits         the settings that every request needs, in plain attributes
"""
