"""Workers as Docker containers.

runtime   the contract, kept: DockerRuntime
engine    the connection to the engine, and what its errors mean to people
image     the application's image: there already, or pulled with progress and back-off
network   the application's own bridge network
labels    how a container is known as ours; others are never touched
recipe    from the settings to the container that is asked for
container one worker: its end, how to ask for it, its last words
stats     the engine's stream of counters, as samples; waiting: what it does not tell
limits    which of them the engine can enforce
"""
