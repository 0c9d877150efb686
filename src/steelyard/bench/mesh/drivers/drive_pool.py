"""multiprocessing.Pool."""

import multiprocessing
import sys

from harness import serve
from work import burn


def main(workers: int, chunk: int) -> None:
    with multiprocessing.Pool(workers) as pool:

        def run(units: int, milliseconds: float) -> None:
            list(pool.imap_unordered(burn, [milliseconds] * units, chunksize=chunk))

        serve(run)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
