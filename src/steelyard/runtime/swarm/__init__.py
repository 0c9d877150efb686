"""Workers as services of a Docker Swarm; `runtime.engine` holds the parts shared with containers.

runtime  SwarmRuntime, which implements the contract
cluster  the swarm as its manager shows it: nodes, and the tasks of our services
engines  the engines of the nodes, as far as we can reach them: only they measure
launch   creates a service and waits until its task runs on some node
recipe   the service to ask the manager for, made from the settings
service  one worker: how to end it, wherever it runs
image    the name by which nodes are told of the image
"""
