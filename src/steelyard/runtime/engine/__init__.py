"""What Docker containers and Swarm services share: the engine's side of a worker.

connection  the connection to an engine, and what its errors mean to people
premises    what an application has there: its image and its network, under its labels
image       the application's image: there already, or pulled with progress and back-off
network     the application's own network
labels      how a container, a service or a network is known as ours; others are never touched
container   one container of the engine that we talk to: its signals, its last words, its end
environment what a worker finds in its environment
limits      which of them the engine can enforce
stats       the engine's stream of counters, as samples; waiting: what it does not tell
"""
