"""Dask, with a local cluster."""

import sys

from distributed import Client, LocalCluster
from harness import serve
from work import burn


def main(workers: int) -> None:
    cluster = LocalCluster(
        n_workers=workers, threads_per_worker=1, dashboard_address=None, host="127.0.0.1"
    )
    with cluster, Client(cluster) as client:

        def run(units: int, milliseconds: float) -> None:
            client.gather(client.map(burn, [milliseconds] * units, pure=False))

        serve(run)


if __name__ == "__main__":
    main(int(sys.argv[1]))
