"""Runtimes: where workers run.

base       the contract: start, stop, list, sample, exits, logs
process    local processes, each the leader of a session of its own
docker     containers, recognised by their labels
swarm      services of a Docker Swarm, on any of its nodes
engine     what docker and swarm share: image, network, labels, counters
stub       workers that exist only in memory, for tests and the lab

The other modules make up `process`: launch, spawn and ports start a worker; names, marks, seal and
register tell a worker of ours from a stranger's process; scan finds workers; worker watches one
until its end, stopping asks for the end; procfs and sampling read counters; limits and cgroup set
limits; orphans takes processes that a worker left behind; logfiles, log_text and room keep the
logs.
"""
