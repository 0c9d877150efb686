"""The supervisor: the parent of an agent and of balancer processes on one port.

child       one process of ours: started again when it ends unasked, dies with its parent
channel     how a balancer tells that it could serve, and its parent that it may
generation  balancers that were started together; on a reload the next one takes over
port        the listening sockets, which outlive balancers
plan        which children there are for these settings
supervise   all of them: start, relay their messages, stop in the right order
reload      the next generation takes over the port; hangup: what a SIGHUP means
notify      tells systemd how far we are; activation: listening sockets that it gave us
entry       what runs inside a child
board       takes the balancers' accounts; metrics: what they sum up to; scrape: serves that
"""
