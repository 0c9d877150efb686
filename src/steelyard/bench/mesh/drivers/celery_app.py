"""The module that Celery's workers import."""

import os

from celery import Celery
from work import burn

app = Celery("bench", broker=os.environ["BENCH_REDIS"], backend=os.environ["BENCH_REDIS"])
task = app.task(burn, name="burn")
