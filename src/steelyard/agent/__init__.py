"""The deployment agent: drives the core, executes its commands, publishes the queue.

loop         passes events to the fleet and its commands on; measures, reconciles, watches exits
executor     executes the commands that take time: starts and stops, in order for each worker
prober       probes workers: can they serve?
presence     watches whether the runtime can be reached
writer       writes records to the store, whenever it can be reached
hub          the links of the balancers: queues out, reports in
audience     readers of the workers' logs: many logs, one stream
probe_lines  recognizes the log lines that probes caused, which are left out of that stream
api          REST, WebSocket and metrics, guarded by a token (log_api, metrics, problems, server)
build        makes the fleet and the runtime from the settings
kept         limits of an earlier agent, from a store that may become available after this one
lock         allows one agent for each application and state folder
claimant     claims the lease from the store, if several agents take turns
term         one turn as the leader: from finding the workers to an orderly end
stop         what the signals ask for
supervision  watches whether the supervisor of this agent is alive
process      one agent process: lock, store, and its turns
"""
