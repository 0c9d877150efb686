"""`python -m … PORT`: a node that takes units over HTTP, as GET /NUMBER/SECONDS, one at a time."""

from __future__ import annotations

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock

from steelyard.bench.jobs.work import nap
from steelyard.bench.ports import HOST

_ONE = Lock()


class Unit(BaseHTTPRequestHandler):
    """Serves one connection of the balancer."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        _, number, seconds = self.path.split("/")
        with _ONE:
            nap((int(number), float(seconds)))
        self.send_response_only(204)  # no body, so that the whole answer is one write
        self.end_headers()


class Server(ThreadingHTTPServer):
    request_queue_size = 256


if __name__ == "__main__":
    Server((HOST, int(sys.argv[1])), Unit).serve_forever()
