"""What a unit costs in a mesh, beside other ways to run many units on one machine.

    drivers/    one script for each contender, in an environment that has it
    contenders  who they are, and what they need
    driver      one of them at work: told to run units, timed, its CPU time read from /proc
    bench       rounds, interleaved; report is what they say, bars what is promised

A unit burns a certain CPU time, so that it takes longer, not less, when cores are scarce. The ideal
is units · time / cores; overhead is what it took beyond that, per unit.
"""
