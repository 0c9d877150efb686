"""The mesh: each node is a process, linked over Zenoh; the client is this process."""

import subprocess
import sys
from pathlib import Path

from harness import serve

from steelyard import mesh
from steelyard.python import module


def main(nodes: int, procs: int) -> None:
    words = module("steelyard", "mesh", "worker", "work:burn")
    words += ["--procs", str(procs)]
    running: list[subprocess.Popen[str]] = []
    join: list[str] = []
    try:
        for _ in range(nodes):
            running.append(_start([*words, *(f"--join={one}" for one in join)]))
            join = join or [_endpoint(running[0])]
        with mesh.Client(join) as client:
            client.wait_for_workers(nodes * procs)

            def run(units: int, milliseconds: float) -> dict[str, float]:
                before = client.pulls
                client.map("work:burn", [milliseconds] * units).values()
                return {"messages": 2.0 * (client.pulls - before)}

            serve(run)
    finally:
        for process in running:
            process.kill()


def _start(words: list[str]) -> "subprocess.Popen[str]":
    return subprocess.Popen(words, cwd=Path(__file__).parent, stdout=subprocess.PIPE, text=True)


def _endpoint(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None  # noqa: S101 - it was asked for
    return process.stdout.readline().split()[-1]


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
