"""The deployment agent: drives the core, executes its commands, publishes the queue.

loop      events to the fleet, commands from it; measures, reconciles, watches for exits
executor  commands that take time: starts and stops, in order per worker
prober    asks workers whether they can serve
writer    records to the store, whenever it can be reached
hub       the balancers' links: queues out, reports in
audience  readers of the workers' logs: many logs, one stream; probe_lines: what is left out
api       REST, WebSocket and metrics, guarded by a token; log_api: the logs; server listens for it
build     settings → fleet, runtime, store
kept      limits of an earlier life, from a store that may come later than the agent
claimant  asks the store for the lease, where several agents take turns
term      one turn: from finding the workers to an orderly end
stop      what the signals ask for
process   one agent process: lock, store, its turns
"""
