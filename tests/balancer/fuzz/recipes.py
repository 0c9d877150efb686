"""Strategies for messages that follow the grammar, and for mutations of them."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from steelyard.balancer.http.fields import TOKEN
from tests.balancer.cases import CASES

VISIBLE = bytes(range(0x21, 0x7F)).decode()


def _bytes(alphabet: str, least: int, most: int) -> st.SearchStrategy[bytes]:
    text = st.text(alphabet, min_size=least, max_size=most)
    return text.map(lambda drawn: drawn.encode("latin-1"))


token = _bytes(TOKEN.decode(), 1, 6)
# Made-up names begin with a letter with which no field begins that has a meaning.
name = st.builds(lambda rest: b"Q" + rest, token)
value = _bytes(VISIBLE + " \t\x80\xe9\xff", 0, 10).map(lambda drawn: drawn.strip(b" \t"))
blank = st.sampled_from([b"", b" ", b"\t", b"  ", b" \t"])
payload = st.binary(max_size=24)

METHODS = [b"GET", b"HEAD", b"POST", b"PUT", b"DELETE", b"OPTIONS", b"PATCH", b"TRACE"]
method = st.sampled_from([*METHODS, b"PURGE", b"FROB", b"get", b"M-SEARCH"])
path = _bytes(VISIBLE.replace("#", ""), 0, 10).map(lambda drawn: b"/" + drawn)
host = st.sampled_from([b"a.org", b"a.org:81", b"[::1]:80", b"127.0.0.1", b"my_app", b"%41"])
target = st.one_of(path, st.builds(lambda h, p: b"http://" + h + p, host, path))

HOP = [
    b"Connection: close",
    b"Connection: keep-alive",
    b"Connection: qq, close",
    b"Connection: ,QQ",
    b"QQ: named",
    b"Keep-Alive: timeout=5",
    b"TE: trailers",
    b"Proxy-Connection: close",
    b"X-Forwarded-For: 1.2.3.4",
    b"X-Forwarded-Proto: https",
    b"Via: 1.0 fred",
    b"Expect: 100-continue",
]


def _line(name: bytes, before: bytes, value: bytes, behind: bytes) -> bytes:
    return name + b":" + before + value + behind


line = st.builds(_line, name, blank, value, blank)
lines = st.lists(st.one_of(line, line, st.sampled_from(HOP)), max_size=6)
trailers = st.lists(line, max_size=3)


@dataclass(frozen=True)
class Framed:
    """A body, the fields that frame it, and its bytes on the wire."""

    fields: list[bytes]
    wire: bytes
    body: bytes
    trailers: list[bytes]


def _extension(name: bytes, value: bytes, quoted: bytes | None) -> bytes:
    return b";" + name + (b"=" + value if quoted is None else b'="' + quoted + b'"')


quotable = _bytes(VISIBLE.replace('"', "").replace("\\", "") + " \t\xe9", 0, 6)
extension = st.one_of(
    st.just(b""), st.builds(_extension, token, token, st.one_of(st.none(), quotable))
)
size = st.sampled_from([b"%x", b"%X", b"0%x", b"0000%X"])


@st.composite
def chunked(draw: st.DrawFn) -> Framed:
    """A chunked body."""
    pieces = draw(st.lists(payload.filter(bool), max_size=4))
    wire = b""
    for piece in pieces:
        wire += draw(size) % len(piece) + draw(extension) + b"\r\n" + piece + b"\r\n"
    ends = draw(trailers)
    wire += draw(st.sampled_from([b"0", b"000"])) + draw(extension)
    wire += b"\r\n" + b"".join(end + b"\r\n" for end in ends) + b"\r\n"
    field = draw(st.sampled_from([b"Transfer-Encoding: chunked", b"transfer-encoding:Chunked"]))
    return Framed([field], wire, b"".join(pieces), ends)


def _counted(body: bytes, spelling: bytes) -> Framed:
    return Framed([b"Content-Length: " + spelling % len(body)], body, body, [])


counted = st.builds(_counted, payload, st.sampled_from([b"%d", b"0%d", b"%d ", b"\t%d"]))
unframed = st.just(Framed([], b"", b"", []))


@dataclass(frozen=True)
class Recipe:
    """A message and its parts."""

    start: bytes
    lines: list[bytes]
    framed: Framed

    @property
    def raw(self) -> bytes:
        return b"\r\n".join((self.start, *self.lines, b"", b"")) + self.framed.wire


@st.composite
def requests(draw: st.DrawFn) -> Recipe:
    """A good request."""
    old = draw(st.integers(0, 9)) == 0
    framed = draw(st.one_of(unframed, counted) if old else st.one_of(unframed, counted, chunked()))
    fields = [b"Host: " + draw(host), *draw(lines), *framed.fields]
    start = b" ".join((draw(method), draw(target), b"HTTP/1.0" if old else b"HTTP/1.1"))
    return Recipe(start, draw(st.permutations(fields)), framed)


status = st.sampled_from([b"200 OK", b"200 ", b"404 Not Found", b"500", b"302 \xe9", b"299 a b"])


@st.composite
def answers(draw: st.DrawFn) -> Recipe:
    """A good answer."""
    old = draw(st.integers(0, 9)) == 0
    endless = st.builds(lambda body: Framed([], body, body, []), payload)
    framed = draw(st.one_of(endless, counted) if old else st.one_of(endless, counted, chunked()))
    fields = [*draw(lines), *framed.fields]
    start = (b"HTTP/1.0 " if old else b"HTTP/1.1 ") + draw(status)
    return Recipe(start, draw(st.permutations(fields)), framed)


# Mutations

# Bytes on which parsers have disagreed.
SPARKS = [
    b"\r", b"\n", b"\r\n", b"\n\n", b"\r\n\r\n", b"\r\r\n", b"\n\r", b" ", b"\t", b"\x0b", b"\x0c",
    b"\0", b"\x7f", b"\x85", b"\xa0", b":", b",", b";", b'"', b"0", b"1", b"+", b"-", b"_", b"x",
    b"chunked", b"close", b"\\", b"@", b"#", b"%", b"[", b"/", b"=", b"0\r\n\r\n", b"f" * 17,
]  # fmt: skip


def _evil_lines() -> list[bytes]:
    """All field lines of the case tables that are shorter than 80 bytes."""
    heads = (case.raw.partition(b"\r\n\r\n")[0] for case in CASES.values())
    found = {line for head in heads for line in head.split(b"\r\n")[1:] if len(line) < 80}
    return sorted(found)


EVIL_LINES = _evil_lines()
place = st.integers(0, 400)
mutation = st.one_of(
    st.tuples(st.just("insert"), place, st.sampled_from(SPARKS)),
    st.tuples(st.just("replace"), place, st.sampled_from(SPARKS)),
    st.tuples(st.just("delete"), place, st.sampled_from([b"x", b"xx", b"xxxxxx"])),
    st.tuples(st.just("line"), place, st.sampled_from(EVIL_LINES)),
    st.tuples(st.just("break"), place, st.sampled_from([b"\n", b"\r", b"\r\r\n", b"\n\r", b""])),
    st.tuples(st.just("again"), place, st.just(b"")),
)


def mutate(raw: bytes, how: str, where: int, what: bytes) -> bytes:
    """The bytes after one mutation."""
    breaks = [at for at in range(len(raw)) if raw.startswith(b"\r\n", at)] or [0]
    edge = breaks[where % len(breaks)]
    at = where % (len(raw) + 1)
    if how == "insert":
        return raw[:at] + what + raw[at:]
    if how in ("replace", "delete"):
        return raw[:at] + (what if how == "replace" else b"") + raw[at + len(what) :]
    if how == "line":
        return raw[:edge] + b"\r\n" + what + raw[edge:]
    if how == "break":
        return raw[:edge] + what + raw[edge + 2 :]
    following = raw.find(b"\r\n", edge + 2)  # repeat a line
    return raw[:edge] + raw[edge : max(edge, following)] + raw[edge:]


def _mutated(recipe: Recipe, changes: list[tuple[str, int, bytes]]) -> bytes:
    raw = recipe.raw
    for how, where, what in changes:
        raw = mutate(raw, how, where, what)
    return raw


def mutated(recipes: st.SearchStrategy[Recipe]) -> st.SearchStrategy[bytes]:
    """Messages with one to three mutations."""
    return st.builds(_mutated, recipes, st.lists(mutation, min_size=1, max_size=3))


cuts = st.lists(place, max_size=8)
