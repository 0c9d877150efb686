"""A store in memory for ASGI and WSGI servers: PUT stores a body, and GET gives it back."""

from __future__ import annotations

SHELF: dict[str, bytes] = {}
PIECE = 64 * 1024


async def asgi(scope, receive, send) -> None:
    """The application for uvicorn, whose answers have no length and so are chunked."""
    assert scope["type"] == "http"
    if scope["method"] == "PUT":
        body, more = bytearray(), True
        while more:
            event = await receive()
            body += event.get("body", b"")
            more = event.get("more_body", False)
        SHELF[scope["path"]] = bytes(body)
        await _respond(send, 201)
    elif scope["path"] in SHELF:
        await _respond(send, 200, SHELF[scope["path"]])
    else:
        await _respond(send, 404)


async def _respond(send, status: int, body: bytes = b"") -> None:
    await send({"type": "http.response.start", "status": status, "headers": []})
    for at in range(0, len(body), PIECE):
        piece = body[at : at + PIECE]
        await send({"type": "http.response.body", "body": piece, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


def wsgi(environ, start_response):
    """The application for gunicorn, whose answers have a length."""
    path = environ["PATH_INFO"]
    if environ["REQUEST_METHOD"] == "PUT":
        SHELF[path] = environ["wsgi.input"].read()
        start_response("201 Created", [("Content-Length", "0")])
        return []
    if path not in SHELF:
        start_response("404 Not Found", [("Content-Length", "0")])
        return []
    body = SHELF[path]
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]
