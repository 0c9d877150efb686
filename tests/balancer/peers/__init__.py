"""Programs of others that speak through the balancer: clients, and servers as workers."""
