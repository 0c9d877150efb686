"""Where workers run.

base      the contract: start, stop, list, sample, exits, logs
process   local processes, each in a process group of its own
stub      workers that exist only in memory, for tests and the lab
"""
