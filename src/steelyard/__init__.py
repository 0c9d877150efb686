"""Steelyard spreads work over workers.

gateway  an HTTP load balancer that starts, measures, scales, drains and heals its workers
         (`core` decides, `agent` acts, `balancer` forwards, `runtime` runs, `store` remembers)
select   selection policies: the fastest way to pick one of n
mesh     runs units of work on nodes that pull them, without a broker

`docs/architecture.md` draws how the packages connect; `docs/glossary.md` defines the words.
"""

__version__ = "0.1.0"

from steelyard import purity

purity.enforce()
