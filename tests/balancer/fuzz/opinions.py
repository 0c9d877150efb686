"""Second opinions: how h11 and llhttp (through httptools) read the same bytes."""

from __future__ import annotations

from dataclasses import dataclass, field

import h11
import httptools

Fields = list[tuple[bytes, bytes]]
PLENTY = 1 << 20


class RefusedError(Exception):
    """The other parser refuses the message."""


@dataclass
class Meaning:
    """A message as a parser read it; `start` is method and target, or the status."""

    start: tuple[bytes, ...] = ()
    fields: Fields = field(default_factory=list)
    body: bytes = b""
    trailers: Fields = field(default_factory=list)
    whole: bool = False
    rest: bytes | None = None  # the bytes after the message, if the parser tells


def _named(fields) -> Fields:
    return [(bytes(name).lower(), bytes(value).strip(b" \t")) for name, value in fields]


# h11


def _h11_events(connection: h11.Connection, meaning: Meaning) -> Meaning:
    while True:
        event = connection.next_event()
        if isinstance(event, h11.Request):
            meaning.start = (event.method, event.target)
            meaning.fields = _named(event.headers)
        elif isinstance(event, h11.Response):
            meaning.start = (b"%d" % event.status_code,)
            meaning.fields = _named(event.headers)
        elif isinstance(event, h11.Data):
            meaning.body += event.data
        elif isinstance(event, h11.EndOfMessage):
            meaning.trailers = _named(event.headers)
            meaning.whole = True
            meaning.rest = connection.trailing_data[0]
            return meaning
        elif not isinstance(event, h11.InformationalResponse):
            return meaning


def h11_request(raw: bytes) -> Meaning:
    """The first request, read by h11."""
    connection = h11.Connection(h11.SERVER, max_incomplete_event_size=PLENTY)
    connection.receive_data(raw)
    try:
        return _h11_events(connection, Meaning())
    except h11.RemoteProtocolError as error:
        raise RefusedError(f"h11: {error}") from None


def h11_answer(raw: bytes, method: bytes) -> Meaning:
    """The answer to a request with this method, up to the connection's end, read by h11."""
    connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=PLENTY)
    connection.send(h11.Request(method=method, target="/", headers=[("Host", "a.org")]))
    connection.send(h11.EndOfMessage())
    try:
        connection.receive_data(raw)
        meaning = _h11_events(connection, Meaning())
        if not meaning.whole:
            connection.receive_data(b"")
            meaning = _h11_events(connection, meaning)
    except h11.RemoteProtocolError as error:
        raise RefusedError(f"h11: {error}") from None
    return meaning


# llhttp


class _Notes:
    """The callbacks for httptools, which note only the first message."""

    def __init__(self, final: bool) -> None:
        self.meaning = Meaning()
        self.url = b""
        self._final = final
        self._headed = False
        self.parser: httptools.HttpResponseParser | None = None

    def on_url(self, url: bytes) -> None:
        if not self.meaning.whole:
            self.url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self.meaning.whole:
            fields = self.meaning.trailers if self._headed else self.meaning.fields
            fields += _named([(name, value)])

    def on_headers_complete(self) -> None:
        if self.meaning.whole:
            return
        if self.parser is not None and self.parser.get_status_code() < 200:
            self.meaning.fields.clear()
        else:
            self._headed = True
            if self.parser is not None:
                self.meaning.start = (b"%d" % self.parser.get_status_code(),)

    def on_body(self, body: bytes) -> None:
        if not self.meaning.whole:
            self.meaning.body += body

    def on_message_complete(self) -> None:
        self.meaning.whole = self._headed


def llhttp_request(raw: bytes) -> Meaning:
    """The first request, read by llhttp."""
    notes = _Notes(final=False)
    parser = httptools.HttpRequestParser(notes)
    _llhttp(parser, notes, raw)
    notes.meaning.start = (parser.get_method(), notes.url)
    return notes.meaning


def llhttp_answer(raw: bytes) -> Meaning:
    """The final answer, read by llhttp, which knows neither of HEAD nor of the connection's end."""
    notes = _Notes(final=True)
    notes.parser = httptools.HttpResponseParser(notes)
    _llhttp(notes.parser, notes, raw)
    return notes.meaning


def _llhttp(parser, notes: _Notes, raw: bytes) -> None:
    try:
        parser.feed_data(raw)
    except httptools.HttpParserUpgrade:
        pass  # llhttp stops after the head
    except httptools.HttpParserError as error:
        if not notes.meaning.whole:  # bytes after the first message do not matter here
            raise RefusedError(f"llhttp: {error}") from None
