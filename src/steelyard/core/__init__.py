"""The pure core: events in, commands out; no clock, RNG, environment, socket or log.

usage, availability  counters and response times → what a worker consumed, how well it answers
score, meter, weight those → 0…100, 100 is best → the share of new requests
lifecycle, worker    the table of states, and one worker that follows it
scaling              policies: how many workers there should be, and why
fleet                all workers: handle(event, now) -> commands (events, commands, rules)
roster, links        what the fleet knows of its workers, and of its balancers
limits, restarts     how many workers there may be; the back-off of those that fail
queue, publication   the snapshot the agent publishes, and when it changes
report               what a balancer tells the agent
record, ledger       what the store keeps, and when it changes
status               what the agent tells people
"""
