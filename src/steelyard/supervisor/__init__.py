"""The supervisor: the parent of an agent and of balancer processes on one port.

child       one process of ours: started again when it ends unasked, outlives its parent
channel     how a balancer tells that it could serve, and its parent that it may
generation  balancers that were started together; on a reload the next one takes over
port        the listening sockets, which outlive balancers
last_resort kills the workers when no agent lives long enough to do so
plan        which children there are for these settings
supervise   all of them: start, relay their messages, stop in the right order
succession  the next generation takes over the port
reload      has it do so with a configuration that changed; hangup: what a SIGHUP means
pidfile     names the children to the supervisor that comes after this one
legacy      what a supervisor that was killed left, taken over; ending: stopped from outside
notify      tells systemd how far we are; activation: listening sockets that it gave us
entry       what runs inside a child
board       takes the balancers' accounts; metrics: what they sum up to; scrape: serves that
"""
