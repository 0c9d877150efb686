"""The parts that Docker containers and Swarm services share.

connection  the connection to an engine, and its errors in words for people
premises    the image and network that an application has on an engine, under its labels
image       the application's image: present, or pulled with progress and back-off
network     the application's own network
labels      mark a container, service or network as ours; others are never touched
container   one container: signals, settings for its log, the reason of its end
logs        the output that an engine keeps, as a stream
environment the environment variables of a worker
limits      the limits that the engine can enforce
stats       the engine's stream of counters, as samples
waiting     the time a container waited for a core, which the engine does not tell
"""
