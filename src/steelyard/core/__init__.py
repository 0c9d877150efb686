"""The pure core: events in, commands out; no clock, RNG, environment, socket or log.

usage         counters → what a worker consumed between two samples
availability  response times → how well a worker answers
score         usage and availability → 0…100, 100 is best
lifecycle     the table of states
scaling       policies: how many workers there should be, and why
fleet         all workers: handle(event, now) -> commands
queue         the snapshot the agent publishes
report        what a balancer tells the agent
record        what the store keeps
"""
