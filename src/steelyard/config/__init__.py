"""One typed configuration from the file `steelyard.toml`, the environment and flags.

A later source wins over an earlier one.

settings  the frozen, typed object
sections  its tables, each key with its default and meaning
section   how a table and its rules are declared
values    addresses, sizes, times and other values that people write as text
keys      the list of all keys, from which flags, variables and documents are made
layer     the keys and values that one source gives
file      the layer of the file (lines: the line on which a key stands)
text      the layers of environment variables and of flags
env_file  the layer of a `.env`, and what became of each of its variables
load      makes settings from the layers, or one error that names every problem
unknown   messages for names that no key has
explain   messages for wrong values
words     how values are written in messages
exposure  warnings about addresses that other machines can reach
document  writes docs/configuration.md
example   the example in that document
"""
