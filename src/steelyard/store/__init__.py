"""What survives a restart.

base     the contract, and the record of one worker
memory   nothing survives: for tests
sqlite   a file, the embedded default
"""
