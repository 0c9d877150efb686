"""The system as containers: images without a registry, Compose, and parts that die."""
