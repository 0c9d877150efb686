"""A registry of one image, for pulls: the part of the distribution API that an engine uses."""

from __future__ import annotations

import gzip
import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.docker.engine import base_layer

_TYPE = "application/vnd.docker.distribution.manifest.v2+json"
_CONFIG = "application/vnd.docker.container.image.v1+json"
_LAYER = "application/vnd.docker.image.rootfs.diff.tar.gzip"


class Registry(ThreadingHTTPServer):
    """Serves `app:1`; the first requests for it may fail."""

    daemon_threads = True

    def __init__(self, failures: int) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.failures = failures
        self.asked = 0  # number of requests for the manifest
        layer = base_layer()
        packed = gzip.compress(layer, mtime=0)
        rootfs = {"type": "layers", "diff_ids": [_digest(layer)]}
        config = json.dumps({"architecture": "amd64", "os": "linux", "rootfs": rootfs}).encode()
        self.blobs = {_digest(blob): blob for blob in (packed, config)}
        self.manifest = json.dumps(
            {
                "schemaVersion": 2,
                "mediaType": _TYPE,
                "config": _part(_CONFIG, config),
                "layers": [_part(_LAYER, packed)],
            }
        ).encode()

    @property
    def image(self) -> str:
        return f"127.0.0.1:{self.server_port}/app:1"


class _Handler(BaseHTTPRequestHandler):
    server: Registry

    def do_GET(self) -> None:
        what = self.path.rpartition("/")[2]
        if self.path == "/v2/":
            self._reply(200, b"{}", "application/json")
        elif "/manifests/" in self.path:
            self._manifest(what)
        else:
            self._reply(200, self.server.blobs[what], "application/octet-stream")

    do_HEAD = do_GET  # noqa: N815

    def _manifest(self, what: str) -> None:
        self.server.asked += 1
        if self.server.failures > 0:
            self.server.failures -= 1
            self._reply(500, b"{}", "application/json")
        elif what in {"1", _digest(self.server.manifest)}:
            self._reply(200, self.server.manifest, _TYPE)
        else:
            errors = {"errors": [{"code": "MANIFEST_UNKNOWN", "message": "manifest unknown"}]}
            self._reply(404, json.dumps(errors).encode(), "application/json")

    def _reply(self, status: int, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Docker-Distribution-API-Version", "registry/2.0")
        self.send_header("Docker-Content-Digest", _digest(body))
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Log nothing: the engine tries TLS first, and every request would be a line."""


def _digest(blob: bytes) -> str:
    return f"sha256:{hashlib.sha256(blob).hexdigest()}"


def _part(kind: str, blob: bytes) -> dict[str, object]:
    return {"mediaType": kind, "size": len(blob), "digest": _digest(blob)}


@contextmanager
def registry(failures: int = 0) -> Iterator[Registry]:
    """Run a registry inside the block."""
    server = Registry(failures)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
