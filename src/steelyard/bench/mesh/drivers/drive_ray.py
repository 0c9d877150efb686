"""Ray, on one machine."""

import sys

import ray
from harness import serve
from work import burn


def main(workers: int) -> None:
    ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    remote = ray.remote(burn)

    def run(units: int, milliseconds: float) -> None:
        ray.get([remote.remote(milliseconds) for _ in range(units)])

    try:
        serve(run)
    finally:
        ray.shutdown()


if __name__ == "__main__":
    main(int(sys.argv[1]))
