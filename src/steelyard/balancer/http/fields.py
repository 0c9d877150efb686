"""Field lines of heads and trailers: their strict form, and what the values of special ones say."""

from __future__ import annotations

from steelyard.balancer.http.alphabets import COLON, CR, LF, NAME, SPACE, TOKEN, ZERO
from steelyard.balancer.http.names import (
    CLOSE,
    CODING,
    CONNECTION,
    DATE,
    HOST,
    KEEP_ALIVE,
    KINDS,
    LENGTH,
    LONGEST,
    MAX_FORWARDS,
    PLAIN,
    PREFIX,
    PROXY,
    SHAPES,
    SPECIAL,
)
from steelyard.balancer.io.octets import cut, decimal, matches, octet, run, text_end
from steelyard.errors import MalformedError

DASHES = bytes.maketrans(b"_", b"-")
MOST_DIGITS = 9  # of Max-Forwards; a route is never so long


class BadMessageError(MalformedError):
    """A message we refuse to forward; `status` is what a client is told when it is a request."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Lines:
    """Walks over the field lines of a head or of trailers, each of which is checked on the way, and
    stops at those whose names mean something to us.

    `start`, `colon` and `stop` are where the present line and its value's colon are; `kind` is
    what its name means.
    """

    __slots__ = ("_data", "_end", "_left", "colon", "kind", "start", "stop")

    def begin(self, data: bytes, at: int, end: int, most: int) -> None:
        """Walk from `at`, where a line has ended, to `end`, where the last one does."""
        self._data = data
        self._end = end
        self._left = most
        self.start = self.colon = self.stop = at
        self.kind = PLAIN

    def next(self) -> bool:
        """Step to the next line that is not plain; False when there is none: the end is there."""
        data, at, left = self._data, self.stop, self._left
        text, shapes = data, SHAPES  # their octets, compiled
        while at != self._end:
            if text[at] != CR or text[at + 1] != LF:
                raise _bad_line_end(text[at])
            start = at + 2
            colon = run(data, start, NAME)
            if text[colon] != COLON or colon == start:
                raise _bad_name(data, start)
            left -= 1
            if left < 0:
                raise BadMessageError(431, "too many fields")
            at = text_end(data, colon + 1)
            size = colon - start
            if size > LONGEST:
                size = LONGEST + 1
            if not shapes[32 * size + (text[start] & 31)]:
                continue
            self.kind = _kind(data, start, colon)
            if self.kind != PLAIN:
                self.start, self.colon, self.stop, self._left = start, colon, at, left
                return True
        self.stop = at
        return False

    def value(self) -> bytes:
        """The present line's value, with the blanks around it."""
        return cut(self._data, self.colon + 1, self.stop)

    def line(self) -> bytes:
        """The present line, with its name."""
        return cut(self._data, self.start, self.stop)


def _bad_line_end(first: int) -> BadMessageError:
    names = {CR: "a bare CR", LF: "a bare LF"}
    return BadMessageError(400, names.get(first, "a control character"))


def _bad_name(data: bytes, start: int) -> BadMessageError:
    line = data[start : text_end(data, start)]
    if b":" not in line:
        return BadMessageError(400, "a field line without a colon")
    return BadMessageError(400, f"bad field name {line[:40]!r}")


def _kind(data: bytes, start: int, end: int) -> int:
    size = end - start
    # These four are in almost every exchange.
    if size == 4:
        if matches(data, start, end, b"Host"):
            return HOST
        if matches(data, start, end, b"Date") or matches(data, start, end, b"date"):
            return DATE
    if size == 14 and matches(data, start, end, b"Content-Length"):
        return LENGTH
    if size == 10 and matches(data, start, end, b"Connection"):
        return CONNECTION
    name = cut(data, start, end)
    known = KINDS.get(name)
    return classify(name) if known is None else known


def classify(name: bytes) -> int:
    """What a name in any spelling means; refuses what could be taken for another."""
    lower = name.lower()
    kind = SPECIAL.get(lower)
    if kind is None:
        dashed = lower.translate(DASHES)
        kind = PROXY if dashed.startswith(PREFIX) else SPECIAL.get(dashed, PLAIN)
        if kind != PLAIN and dashed != lower:
            # CGI and WSGI servers cannot tell Content_Length from Content-Length.
            raise BadMessageError(400, f"ambiguous field name {name[:40]!r}")
    return kind


def content_length(data: bytes, start: int, end: int, before: int) -> int:
    """The one declared length; a second field is refused even when it agrees."""
    if start < end and octet(data, start) == SPACE:
        start += 1
    length = decimal(data, start, end)
    if length < 0:
        value = data[start:end].strip(b" \t")
        length = decimal(value, 0, len(value))
        if length < 0:
            raise BadMessageError(400, f"bad Content-Length {value[:40]!r}")
    if before >= 0:
        raise BadMessageError(400, "more than one Content-Length")
    return length


def has_zeros(data: bytes, start: int, end: int) -> bool:
    """Whether a length is spelled with leading zeros, which some readers take for octal."""
    while octet(data, start) in b" \t":
        start += 1
    return octet(data, start) == ZERO and start + 1 < end and octet(data, start + 1) not in b" \t"


def max_forwards(value: bytes, before: int) -> int:
    """How many proxies may still forward the message; a second field is refused.

    RFC 9110, 7.6.2 has a proxy forward no more than the greatest number that it supports.
    """
    digits = value.strip(b" \t")
    if not digits.isdigit():
        raise BadMessageError(400, f"bad Max-Forwards {digits[:40]!r}")
    if before >= 0:
        raise BadMessageError(400, "more than one Max-Forwards")
    digits = digits.lstrip(b"0") or b"0"
    return int(digits) if len(digits) <= MOST_DIGITS else 10**MOST_DIGITS


def transfer_coding(value: bytes, before: bool) -> bool:
    """True; the only transfer coding there is on a connection of ours is `chunked`, once."""
    if before or value.strip(b" \t").lower() != b"chunked":
        raise BadMessageError(400, "a Transfer-Encoding other than chunked")
    return True


def usual_options(data: bytes, start: int, end: int) -> list[bytes] | None:
    """What a Connection field lists that lists what most do; None when it must be read."""
    size = end - start
    if size == 11 and (
        matches(data, start, end, b" keep-alive") or matches(data, start, end, b" Keep-Alive")
    ):
        return KEEP_ALIVE
    return CLOSE if size == 6 and matches(data, start, end, b" close") else None


def connection_options(value: bytes, before: list[bytes] | None) -> list[bytes]:
    """What Connection fields list, in lower case: the ones before this, and this one."""
    options = [option.strip(b" \t") for option in value.lower().split(b",")]
    for option in options:
        if option.translate(None, TOKEN):
            raise BadMessageError(400, f"bad connection option {option[:40]!r}")
        if option in (b"host", b"content-length"):
            # Dropping what routes or frames a message would change its meaning downstream.
            raise BadMessageError(400, f"connection option names {option.decode()}")
    return (before or []) + [option for option in options if option]


def upgrade_offer(value: bytes, before: list[bytes] | None) -> list[bytes]:
    """The protocols that Upgrade fields list (RFC 9110, 7.8), without HTTP/2.

    `h2c` is never passed on: what follows on such a connection are requests that no balancer
    reads, which is how they are smuggled past one (RFC 9113, 3.1 has abandoned it).
    """
    protocols = [protocol.strip(b" \t") for protocol in value.split(b",")]
    for protocol in protocols:
        if protocol.translate(None, TOKEN + b"/") or protocol.count(b"/") > 1:
            raise BadMessageError(400, f"bad protocol {protocol[:40]!r} in Upgrade")
    offered = [name for name in protocols if name and name.lower().partition(b"/")[0] != b"h2c"]
    return (before or []) + offered


def without(text: bytes, names: list[bytes]) -> bytes:
    """A head without the fields whose names are among those that a Connection field listed."""
    gone = frozenset(names)  # a client may name thousands
    first, *lines = text.split(b"\r\n")
    return first + join([line for line in lines if line.partition(b":")[0].lower() not in gone])


def join(lines: list[bytes]) -> bytes:
    """Lines as they stand in a head, each after a CRLF."""
    return b"".join([b"\r\n" + line for line in lines])


def trailer_lines(data: bytes, most: int) -> list[bytes]:
    """The trailers that may travel on: those that neither route nor belong to a connection.

    `data` has a line end before each and behind the last. Ones that frame are refused: a reader
    that merges trailers would see another message.
    """
    text, kept = b"", 0
    lines = Lines()
    lines.begin(data, 0, len(data) - 2, most)
    while lines.next():
        if lines.kind in (LENGTH, CODING):
            raise BadMessageError(400, "a trailer that frames")
        if lines.kind in (DATE, MAX_FORWARDS):
            continue
        text += data[kept : lines.start - 2]
        kept = lines.stop
    text += data[kept : lines.stop]
    return text.split(b"\r\n")[1:]
