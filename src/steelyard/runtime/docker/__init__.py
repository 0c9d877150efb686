"""Workers as Docker containers; what they share with a Swarm's is in `runtime.engine`.

runtime   the contract, kept: DockerRuntime
recipe    from the settings to the container that is asked for
container one worker: where it is reached, its end
"""
