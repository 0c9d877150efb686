"""Steelyard spreads work over workers.

gateway  an HTTP load balancer that starts, measures, scales, drains and heals its workers
         (`core` decides, `agent` acts, `balancer` forwards, `runtime` runs, `store` remembers)
select   the fastest way to pick one of n

`docs/architecture.md` draws how the rooms connect; `docs/glossary.md` has the words.
"""

__version__ = "0.1.0"

from steelyard import purity

purity.enforce()
