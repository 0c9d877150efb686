"""Scripts that are run by themselves: those of other tools in an environment without steelyard."""
