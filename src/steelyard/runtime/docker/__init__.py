"""Workers as Docker containers; `runtime.engine` holds the parts shared with Swarm.

runtime   DockerRuntime, which implements the contract
recipe    the container to ask the engine for, made from the settings
container one worker: the address where it is reached, its end
"""
