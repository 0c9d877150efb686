"""What a unit costs in a mesh, beside other ways to run many units on one machine.

    drivers/    one script for each contender, in an environment that has it
    contenders  the ways to run units, and what they need
    driver      one of them at work: told to run units, timed, its CPU time read from /proc
    bench       interleaved rounds; report: their figures; bars: the goals
    faults      what faults cost; nodes: processes that are killed, frozen and slowed down

A unit burns a certain CPU time, so that it takes longer, not less, when cores are scarce. The ideal
is units · time / cores; overhead is the time beyond that, per unit.
"""
