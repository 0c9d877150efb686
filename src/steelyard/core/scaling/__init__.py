"""How many workers there should be, and why; one policy per file.

base   what a policy sees (View) and says (Verdict)
fixed  the number stays
step   the paper's rule: a step up under high load, a step down under low load
"""
