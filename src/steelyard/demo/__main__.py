"""`python -m steelyard.demo --port 8000`: one worker of the demo. $PORT may give the port
instead.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping


def main(environ: Mapping[str, str]) -> None:
    parser = argparse.ArgumentParser("python -m steelyard.demo", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=environ.get("PORT"))
    options = parser.parse_args()
    if options.port is None:
        parser.error("--port or $PORT is needed")

    # A wrong flag should be reported before a web server is imported.
    from steelyard.demo.endpoints import Identity
    from steelyard.demo.server import serve

    pid = os.getpid()
    name = environ.get("STEELYARD_WORKER") or f"pid-{pid}"
    serve(options.host, Identity(name, pid, options.port))


if __name__ == "__main__":
    main(os.environ)
