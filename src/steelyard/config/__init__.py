"""One typed configuration: file `steelyard.toml`, environment, flags; later ones win.

settings  the frozen, typed object: every key, its default, its meaning
"""
