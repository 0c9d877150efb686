"""Measurements against other tools, on this machine, in one run.

    proxies/   the proxies that are compared: how each is configured and started, ours among them
    balancer/  cost per request: cases, rounds, the table (`steelyard bench balancer`)
    tail/      tail latency with unequal workers (`steelyard bench tail`)
    select/    what a pick costs (`steelyard bench select`)
    mesh/      cost per unit, and of faults (`steelyard bench mesh`, `mesh-faults`)
    soak/      load while workers come and go (`steelyard bench soak`)
    usage      CPU and memory of a process and its descendants
    noise      how much of the cores other programs took meanwhile
    machine    which cores, which machine
    launch     processes that are pinned, and certain to be stopped
    tools      programs from Debian's packages, found or installed; venv: packages from PyPI
    stats      median, spread, ratio; cells: figures in a table; markdown: in a document

Single runs spread by a quarter: only ratios of medians of interleaved rounds of one run count.
"""
