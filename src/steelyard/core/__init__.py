"""The pure core: events in, commands out. It reads no clock, RNG, environment or socket, and it
writes no log.

usage, availability  what a worker consumed, and how well it answers, from counters and times
score, meter, weight the score of a worker (0…100, 100 is best), and its share of new requests
lifecycle, worker    the table of states, and one worker that follows it
scaling              policies: how many workers there should be, and why
fleet                all workers: handle(event, now) -> commands (events, commands, rules)
roster, links        what the fleet knows of its workers, and of its balancers
limits, restarts     how many workers there may be; the back-off after failed starts
absence              the time in which the runtime cannot be reached
reconcile            the differences between the fleet and the workers that really run
queue, publication   the snapshot of the workers that the agent publishes, and when it changes
report               the message of a balancer to the agent
account, accounts    the totals of one balancer process, and their sum over all processes
bounds               bounds of the numbers and names in these messages
record, ledger       what the store keeps of a worker, and when it changes
lease                which of several agents leads
status, log_line     what the API tells people about a fleet, and about a line of a worker's log
"""
