"""The system as containers: images without a registry, Compose, and what happens when parts die."""
