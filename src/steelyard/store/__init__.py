"""What survives a restart.

base     the contract; the records themselves are in core.record
memory   nothing survives: for tests
sqlite   a file, the embedded default
open     from a URL to a store
"""
