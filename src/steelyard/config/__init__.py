"""One typed configuration: file `steelyard.toml`, environment, flags; later ones win.

settings  the frozen, typed object; sections: its tables, each key with its default and meaning
section   how a table and its rules are declared; values: addresses, sizes, times as text
keys      the settings walked as a list: what flags, variables and documents are made from
file      one layer from the file (lines: on which line a key stands)
text      two layers from text: environment variables and flags
env_file  one layer from a `.env`: RustyBalancer's variables, and what became of each
load      layers to settings, or one error that names every problem (unknown, explain)
exposure  what is reachable from other machines; document: docs/configuration.md
"""
