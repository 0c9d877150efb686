"""Where workers run.

base       the contract: start, stop, list, sample, exits, logs
process    local processes, each the leader of a session of its own
docker     containers, known again by their labels
swarm      services of a Docker Swarm, on any of its nodes
engine     what these two share: image, network, labels, counters
stub       workers that exist only in memory, for tests and the lab

What `process` is made of: launch, spawn, ports; names, marks, seal and register (how a worker is
known again, and a stranger is not); scan (finding it); worker (its life and end); procfs and
sampling (its counters); limits and cgroup; logfiles.
"""
