"""The deployment agent: drives the core, executes its commands, publishes the queue."""
