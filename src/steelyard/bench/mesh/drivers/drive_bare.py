"""Without any tool: processes that take one unit after the other from a pipe, a byte each."""

import os
import sys

from harness import serve
from work import burn


def main(workers: int) -> None:
    def run(units: int, milliseconds: float) -> None:
        source, end = os.pipe()
        os.write(end, b"." * units)
        os.close(end)
        started = [_start(source, milliseconds) for _ in range(workers)]
        os.close(source)
        for pid in started:
            os.waitpid(pid, 0)

    serve(run)


def _start(source: int, milliseconds: float) -> int:
    pid = os.fork()
    if not pid:
        while os.read(source, 1):
            burn(milliseconds)
        os._exit(0)
    return pid


if __name__ == "__main__":
    main(int(sys.argv[1]))
