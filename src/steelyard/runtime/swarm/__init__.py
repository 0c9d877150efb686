"""Workers as services of a Docker Swarm, one each; what they share with containers is in
`runtime.engine`.

runtime  the contract, kept: SwarmRuntime
cluster  the swarm as its manager shows it: nodes, and the tasks of our services
engines  the engines of the nodes, as far as we can talk to them: only they measure
launch   from a wish to a service whose task runs on some node
recipe   from the settings to the service that is asked for
service  one worker: how to ask for its end, wherever it runs
image    the name by which nodes are told of the image
"""
