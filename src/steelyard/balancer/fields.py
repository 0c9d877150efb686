"""Field lines of heads and trailers: their strict form, and what the values of special ones say."""

from __future__ import annotations

from steelyard.balancer.alphabets import COLON, CR, NAME, SPACE, TOKEN, ZERO
from steelyard.balancer.names import (
    CODING,
    CONNECTION,
    HOST,
    KINDS,
    LENGTH,
    LONGEST,
    PLAIN,
    SHAPES,
    SPECIAL,
)
from steelyard.balancer.octets import breaks, cut, decimal, find, matches, octet, spans
from steelyard.errors import MalformedError

DASHES = bytes.maketrans(b"_", b"-")


class BadMessageError(MalformedError):
    """A message we refuse to forward; `status` is what a client is told when it is a request."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Lines:
    """Walks over the field lines of a head or of trailers, each of which is checked on the way.

    `start`, `colon` and `stop` are where the present line and its value's colon are; `kind` is
    what its name means.
    """

    __slots__ = ("_at", "_data", "_end", "_left", "colon", "kind", "start", "stop")

    def __init__(self, data: bytes, at: int, most: int) -> None:
        """From `at`, where a line has ended, to the end of the data, all of which is looked at."""
        self.begin(data, at, most)

    def begin(self, data: bytes, at: int, most: int) -> None:
        """What `__init__` does, callable as C (see `walk`)."""
        self._data = data
        self._at = at
        self._end = len(data)
        self._left = breaks(data)
        self.start = self.colon = self.stop = at
        self.kind = PLAIN
        if self._left < 0:
            raise BadMessageError(400, "a control character")
        if self._left > most:
            raise BadMessageError(431, f"more than {most} fields")

    def next(self) -> bool:
        """Step to the next line; False when there is none."""
        data, at, end = self._data, self._at, self._end
        if at >= end:
            if self._left:
                raise BadMessageError(400, "a bare LF")
            return False
        if not matches(data, at, at + 2, b"\r\n"):
            raise BadMessageError(400, "a bare CR")
        start = at + 2
        stop = find(data, CR, start, end)
        if stop < 0:
            stop = end
        colon = find(data, COLON, start, stop)
        if colon <= start or not spans(data, start, colon, NAME):
            raise _bad_name(cut(data, start, stop), colon < 0)
        self._left -= 1
        self.start, self.colon, self.stop, self._at = start, colon, stop, stop
        self.kind = _kind(data, start, colon)
        return True

    def value(self) -> bytes:
        """The present line's value, with the blanks around it."""
        return cut(self._data, self.colon + 1, self.stop)


def walk(data: bytes, at: int, most: int) -> Lines:
    """As `Lines(…)`. What every exchange makes is made like this: compiled, to call a type costs
    three times as much as to call `__new__` and a method."""
    lines = Lines.__new__(Lines)
    lines.begin(data, at, most)
    return lines


def _bad_name(line: bytes, bare: bool) -> BadMessageError:
    if bare:
        return BadMessageError(400, "a field line without a colon")
    return BadMessageError(400, f"bad field name {line[:40]!r}")


def _kind(data: bytes, start: int, end: int) -> int:
    size = end - start
    if size > LONGEST or not octet(SHAPES, 32 * size + (octet(data, start) & 31)):
        return PLAIN
    # These three are in almost every exchange.
    if size == 4 and matches(data, start, end, b"Host"):
        return HOST
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
    if b"_" in lower and lower.translate(DASHES) in SPECIAL:
        # CGI and WSGI servers cannot tell Content_Length from Content-Length.
        raise BadMessageError(400, f"ambiguous field name {name[:40]!r}")
    return SPECIAL.get(lower, PLAIN)


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


def transfer_coding(value: bytes, before: bool) -> bool:
    """True; the only transfer coding there is on a connection of ours is `chunked`, once."""
    if before or value.strip(b" \t").lower() != b"chunked":
        raise BadMessageError(400, "a Transfer-Encoding other than chunked")
    return True


KEEP_ALIVE = [b"keep-alive"]
CLOSE = [b"close"]
_USUAL: dict[bytes, list[bytes]] = {
    b" keep-alive": KEEP_ALIVE,
    b" Keep-Alive": KEEP_ALIVE,
    b" close": CLOSE,
}


def connection_options(value: bytes, before: list[bytes] | None) -> list[bytes]:
    """What Connection fields list, in lower case: the ones before this, and this one."""
    usual = _USUAL.get(value)
    if usual is not None and before is None:
        return usual
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


def without(fields: bytes, names: list[bytes]) -> bytes:
    """The fields whose names are not among those that a Connection field listed."""
    if names is KEEP_ALIVE or names is CLOSE:
        return fields
    gone = frozenset(names)  # a client may name thousands
    lines = fields.split(b"\r\n")[1:]
    return join([line for line in lines if line.partition(b":")[0].lower() not in gone])


def join(lines: list[bytes]) -> bytes:
    """Lines as they stand in a head, each after a CRLF."""
    return b"".join([b"\r\n" + line for line in lines])


def trailer_lines(data: bytes, most: int) -> list[bytes]:
    """The trailers that may travel on: those that neither route nor belong to a connection.

    `data` has a line end before each. Ones that frame are refused: a reader that merges trailers
    would see another message.
    """
    kept = []
    lines = walk(data, 0, most)
    while lines.next():
        if lines.kind == PLAIN:
            kept.append(data[lines.start : lines.stop])
        elif lines.kind in (LENGTH, CODING):
            raise BadMessageError(400, "a trailer that frames")
    return kept
