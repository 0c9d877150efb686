"""The data plane: takes clients' requests and forwards each to a worker."""
