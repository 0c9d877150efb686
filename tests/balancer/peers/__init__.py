"""Clients and servers by other authors, which talk to each other through the balancer."""
