"""The supervisor: the parent of an agent and of balancer processes on one port.

child       one child process: it is restarted when it ends unasked, and may outlive its parent
channel     how a balancer says that it is ready to serve, and its parent that it may
generation  balancers that were started together; on a reload the next generation takes over
port        the listening sockets, which outlive balancers
last_resort kills the workers if no agent lives long enough to stop them
plan        which children there are for these settings, and what each needs to know
supervise   all children: starts them, relays their messages, stops them in the right order
succession  how the next generation takes over the port
reload      reads the configuration anew, for a succession
hangup      what a SIGHUP means: reload, or the terminal was closed
pidfile     lists the children for the supervisor that comes after this one
legacy      takes over the children that a killed supervisor left
ending      stops a gateway from outside
notify      tells systemd that the gateway is ready, reloading or stopping
activation  listening sockets from systemd
entry       the main function of a child
board       receives the accounts of the balancers
metrics     the sums of these accounts for Prometheus
scrape      serves these metrics
"""
