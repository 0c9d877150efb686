"""What survives a restart.

base     the contract; the records themselves are in core.record
memory   nothing survives: for tests
sqlite   a file, the embedded default (schema: its tables, sqlite_lease)
redis    a server, for more than one machine (redis_keys: the layout, redis_errors: the words)
open     from a URL to a store
url      a URL as people may read it
"""
