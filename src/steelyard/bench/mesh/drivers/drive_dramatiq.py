"""dramatiq, with Redis for messages and results."""

import os
import subprocess
import sys
from pathlib import Path

from harness import serve
from own_redis import own_redis


def main(workers: int) -> None:
    with own_redis() as url:
        os.environ["BENCH_REDIS"] = url
        from dramatiq_app import task

        words = [sys.executable, "-m", "dramatiq", "dramatiq_app", "-p", str(workers), "-t", "1"]
        silent = subprocess.DEVNULL
        worker = subprocess.Popen(words, cwd=Path(__file__).parent, stdout=silent, stderr=silent)

        def run(units: int, milliseconds: float) -> None:
            sent = [task.send(milliseconds) for _ in range(units)]
            for one in sent:
                one.get_result(block=True, timeout=120_000)

        try:
            serve(run)
        finally:
            worker.terminate()
            worker.wait()


if __name__ == "__main__":
    main(int(sys.argv[1]))
