"""Scripts that run by themselves; those of other tools run in an environment without steelyard."""
