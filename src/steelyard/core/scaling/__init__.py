"""How many workers there should be, and why; one policy per file.

base        what a policy sees (View) and returns (Verdict)
fixed       keeps the number of workers as it is
step        the paper's rule: a step up under high load, a step down under low load
need        how many workers the load needs, by the targets of its metrics
target      follows this need: windows, tolerance, panic
predictive  follows the need expected at the time when a worker started now has booted
"""
