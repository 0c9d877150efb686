"""A configuration to start from; the documentation shows it, and a test loads it."""

EXAMPLE = """\
state = "state" # next to this file

[application]
name = "shop"
command = ["uvicorn", "shop:app", "--port", "{port}"]
directory = "."
environment = { LOG_LEVEL = "info" }

[runtime]
kind = "process"
ports = "21000-21999"
cpus = 1
memory = "512MiB"
grace = "10s"

[probe]
path = "/health"
interval = 1
boot = "30s"

[score]
network_capacity = 125 # MB/s: a gigabit

[states]
low = 30
high = 60

[scaling]
policy = "step"
min = 2
max = 8
high = 60
critical = 80
cooldown = 5
dwell_down = "1m"

[agent]
listen = "127.0.0.1:8081"

[gateway]
listen = "127.0.0.1:8080"
processes = 2
body = "16MiB"
answer_timeout = "30s"

[store]
url = "sqlite:" # a file in the state folder

[log]
level = "info"
"""
