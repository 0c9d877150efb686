"""The module that dramatiq's workers import."""

import os

import dramatiq
from dramatiq.brokers.redis import RedisBroker
from dramatiq.results import Results
from dramatiq.results.backends import RedisBackend
from work import burn

broker = RedisBroker(url=os.environ["BENCH_REDIS"])
broker.add_middleware(Results(backend=RedisBackend(url=os.environ["BENCH_REDIS"])))
dramatiq.set_broker(broker)
task = dramatiq.actor(burn, store_results=True)
