"""Fields: parses the field lines of heads and trailers strictly, and values of special fields."""

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
MOST_DIGITS = 9  # digits of Max-Forwards; no chain of proxies is longer


class BadMessageError(MalformedError):
    """A message that the balancer does not forward; `status` is for the answer to a bad request."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Lines:
    """Iterates over the field lines of a head or of trailers. It checks each line, and stops at the
    fields with a special name.

    `start`, `colon` and `stop` are the positions of the present line's first octet, its colon and
    its end; `kind` is the kind of its name.
    """

    __slots__ = ("_data", "_end", "_left", "colon", "kind", "start", "stop")

    def begin(self, data: bytes, at: int, end: int, most: int) -> None:
        """Begin at `at`, the end of a line, and iterate up to `end`, the end of the last line."""
        self._data = data
        self._end = end
        self._left = most
        self.start = self.colon = self.stop = at
        self.kind = PLAIN

    def next(self) -> bool:
        """Step to the next line with a special name; return False at the end."""
        data, at, left = self._data, self.stop, self._left
        text, shapes = data, SHAPES  # when compiled, pointers to their octets
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
        """Return the present line's value, with the blanks around it."""
        return cut(self._data, self.colon + 1, self.stop)

    def line(self) -> bytes:
        """Return the present line, with its name."""
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
    # Almost every exchange has these four fields.
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
    """Return the kind of a name in any spelling; refuse a name that could be taken for another."""
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
    """Return the declared length; refuse a second field even if it has the same value."""
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
    """Whether a length has leading zeros, which some parsers take for an octal number."""
    while octet(data, start) in b" \t":
        start += 1
    return octet(data, start) == ZERO and start + 1 < end and octet(data, start + 1) not in b" \t"


def max_forwards(value: bytes, before: int) -> int:
    """Return how many proxies may still forward the message; refuse a second field.

    A proxy forwards at most the greatest number that it supports (RFC 9110, 7.6.2).
    """
    digits = value.strip(b" \t")
    if not digits.isdigit():
        raise BadMessageError(400, f"bad Max-Forwards {digits[:40]!r}")
    if before >= 0:
        raise BadMessageError(400, "more than one Max-Forwards")
    digits = digits.lstrip(b"0") or b"0"
    return int(digits) if len(digits) <= MOST_DIGITS else 10**MOST_DIGITS


def transfer_coding(value: bytes, before: bool) -> bool:
    """Return True for `chunked`, the only supported transfer coding; refuse any other, and a second
    field."""
    if before or value.strip(b" \t").lower() != b"chunked":
        raise BadMessageError(400, "a Transfer-Encoding other than chunked")
    return True


def usual_options(data: bytes, start: int, end: int) -> list[bytes] | None:
    """Return the options of a Connection field with a usual value; None if it must be parsed."""
    size = end - start
    if size == 11 and (
        matches(data, start, end, b" keep-alive") or matches(data, start, end, b" Keep-Alive")
    ):
        return KEEP_ALIVE
    return CLOSE if size == 6 and matches(data, start, end, b" close") else None


def connection_options(value: bytes, before: list[bytes] | None) -> list[bytes]:
    """Return the options of this Connection field and of those before it, in lower case."""
    options = [option.strip(b" \t") for option in value.lower().split(b",")]
    for option in options:
        if option.translate(None, TOKEN):
            raise BadMessageError(400, f"bad connection option {option[:40]!r}")
        if option in (b"host", b"content-length"):
            # Without the fields that route or frame it, the message would mean something else.
            raise BadMessageError(400, f"connection option names {option.decode()}")
    return (before or []) + [option for option in options if option]


def upgrade_offer(value: bytes, before: list[bytes] | None) -> list[bytes]:
    """Return the protocols of this Upgrade field and of those before it (RFC 9110, 7.8), without
    HTTP/2.

    `h2c` is never forwarded: the balancer would not parse the requests behind the upgrade, so they
    could be smuggled past it (RFC 9113, 3.1 has abandoned `h2c`).
    """
    protocols = [protocol.strip(b" \t") for protocol in value.split(b",")]
    for protocol in protocols:
        if protocol.translate(None, TOKEN + b"/") or protocol.count(b"/") > 1:
            raise BadMessageError(400, f"bad protocol {protocol[:40]!r} in Upgrade")
    offered = [name for name in protocols if name and name.lower().partition(b"/")[0] != b"h2c"]
    return (before or []) + offered


def without(text: bytes, names: list[bytes]) -> bytes:
    """Return a head without the fields that a Connection field named."""
    gone = frozenset(names)  # a client may list thousands of names
    first, *lines = text.split(b"\r\n")
    return first + join([line for line in lines if line.partition(b":")[0].lower() not in gone])


def join(lines: list[bytes]) -> bytes:
    """Join lines as in a head, each after a CRLF."""
    return b"".join([b"\r\n" + line for line in lines])


def trailer_lines(data: bytes, most: int) -> list[bytes]:
    """Return the trailers to forward: all but those with a special name.

    `data` has a CRLF before each line and behind the last. Date and Max-Forwards are kept as well.
    Trailers that frame are refused: a parser that merges trailers into the head would see another
    message.
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
