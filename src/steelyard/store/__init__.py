"""What survives a restart.

base     the contract; the records themselves are in core.record
memory   nothing survives: for tests
sqlite   a file, the embedded default (schema: its tables, sqlite_lease: the lease)
redis    a server, for more than one machine (redis_keys: the keys, redis_errors: error texts)
open     makes the store that a URL names
url      a URL without its secrets
"""
