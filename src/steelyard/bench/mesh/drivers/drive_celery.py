"""Celery, with Redis for tasks and results."""

import os
import subprocess
import sys
from pathlib import Path

from harness import serve
from own_redis import own_redis


def main(workers: int) -> None:
    with own_redis() as url:
        os.environ["BENCH_REDIS"] = url
        from celery_app import task

        words = [sys.executable, "-m", "celery", "-A", "celery_app", "worker", "-c", str(workers)]
        words += ["--loglevel", "ERROR", "--without-gossip", "--without-mingle"]
        worker = subprocess.Popen(words, cwd=Path(__file__).parent, stdout=subprocess.DEVNULL)

        def run(units: int, milliseconds: float) -> None:
            sent = [task.delay(milliseconds) for _ in range(units)]
            for one in sent:
                one.get()

        try:
            serve(run)
        finally:
            worker.terminate()
            worker.wait()


if __name__ == "__main__":
    main(int(sys.argv[1]))
