"""How many workers there should be, and why; one policy per file.

base        what a policy sees (View) and says (Verdict)
fixed       the number stays
step        the paper's rule: a step up under high load, a step down under low load
need        how many workers the load is worth, by the targets of its metrics
target      as many workers as that: windows, tolerance, panic
predictive  the same, as far ahead as a worker takes to boot
"""
