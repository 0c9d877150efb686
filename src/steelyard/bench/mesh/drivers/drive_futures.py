"""concurrent.futures.ProcessPoolExecutor."""

import sys
from concurrent.futures import ProcessPoolExecutor

from harness import serve
from work import burn


def main(workers: int, chunk: int) -> None:
    with ProcessPoolExecutor(workers) as pool:

        def run(units: int, milliseconds: float) -> None:
            list(pool.map(burn, [milliseconds] * units, chunksize=chunk))

        serve(run)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
