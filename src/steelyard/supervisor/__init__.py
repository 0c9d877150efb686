"""The supervisor: the parent of an agent and of balancer processes on one port.

child       one process of ours: started again when it ends unasked, dies with its parent
plan        which children there are for these settings
supervise   all of them: start, relay their messages, stop in the right order
entry       what runs inside a child
board       takes the balancers' accounts; metrics: what they sum up to; scrape: serves that
"""
