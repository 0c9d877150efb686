"""Fuzzing of requests: the worker gets a request with the same meaning, by three parsers."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given

from tests.balancer import reading
from tests.balancer.fuzz import exceptions, opinions, recipes
from tests.balancer.fuzz.budget import bounded
from tests.balancer.fuzz.opinions import Meaning, RefusedError
from tests.balancer.fuzz.recipes import Recipe
from tests.balancer.reading import Taken, end_to_end, pairs

FRAMING = (b"host", b"content-length")  # compared separately


def survives(taken: Taken, raw: bytes) -> None:
    """Oracle A: the forwarded bytes are parsed to exactly the request that was accepted."""
    read = reading.requests([taken.out])
    assert read.status == 0
    assert read.rest == b""
    (again,) = read.taken
    assert again.done
    assert (again.head.method, again.head.target) == (taken.head.method, taken.head.target)
    assert without_host(again) == without_host(taken)
    assert again.head.host == (taken.head.host or reading.ORIGIN.local)
    assert (again.head.chunked, again.head.length) == (taken.head.chunked, taken.head.length)
    if taken.head.chunked or taken.head.length > 0:
        assert reading.payload(again.head, taken.out) == reading.payload(taken.head, raw)


def without_host(taken: Taken) -> list[tuple[bytes, bytes]]:
    """The fields without Host, which an HTTP/1.0 client may have left out."""
    return [pair for pair in end_to_end(pairs(taken.head.lines)) if pair[0] != b"host"]


def agrees(opinion: Meaning, taken: Taken, target: bytes, data: bytes) -> None:
    """Check that another parser reads the request as the balancer does."""
    assert opinion.start == (taken.head.method, target)
    named = dict(opinion.fields)
    lines = [pair for pair in end_to_end(pairs(taken.head.lines)) if pair[0] not in FRAMING]
    names = {name for name, _ in lines}
    assert [pair for pair in end_to_end(opinion.fields) if pair[0] in names] == lines
    if taken.head.host and not target.lower().startswith(b"http:"):
        assert named[b"host"] == taken.head.host
    assert int(named.get(b"content-length", b"-1")) == taken.head.length
    assert (b"transfer-encoding" in named) == taken.head.chunked
    assert opinion.whole == taken.done
    if taken.done and (taken.head.chunked or taken.head.length > 0):
        body, trailers = reading.payload(taken.head, data)
        assert opinion.body == body
        kept = [pair for pair in opinion.trailers if pair in pairs(trailers)]
        assert kept == pairs(trailers)


def second_opinion(
    ask: Callable[[bytes], Meaning], taken: Taken, data: bytes, target: bytes, allowed: tuple
) -> Meaning | None:
    """Oracle B: another parser reads the same meaning, except for the listed exceptions."""
    if any(reason(data) for reason in allowed):
        return None
    opinion = ask(data)
    agrees(opinion, taken, target, data)
    return opinion


def judge(raw: bytes) -> reading.Read:
    """Apply oracles A and B to the first request in these bytes, if it is accepted."""
    read = reading.requests([raw])
    if not read.taken:
        return read
    taken = read.taken[0]
    target = reading.skip_empty_lines(raw).split(b" ", 2)[1]
    first = second_opinion(opinions.h11_request, taken, raw, target, exceptions.H11)
    if first is not None and taken.done:
        assert first.rest == taken.rest
    second_opinion(opinions.llhttp_request, taken, raw, target, exceptions.LLHTTP)
    if taken.done:
        survives(taken, raw)
        out, target = taken.out, taken.head.target
        second_opinion(opinions.h11_request, taken, out, target, ())
        second_opinion(opinions.llhttp_request, taken, out, target, exceptions.FORWARDED)
    return read


@bounded(100)
@given(recipes.requests())
def test_good_requests(recipe: Recipe) -> None:
    """A request that follows the grammar is accepted, with its body and its trailers."""
    read = judge(recipe.raw)
    (taken,) = read.taken
    assert (read.status, taken.done, read.rest) == (0, True, b"")
    if recipe.framed.fields:
        body, trailers = reading.payload(taken.head, recipe.raw)
        assert (body, trailers) == (recipe.framed.body, recipe.framed.trailers)


@bounded(400)
@given(recipes.mutated(recipes.requests()))
def test_mutated_requests(raw: bytes) -> None:
    """A mutated request that the balancer accepts has the same meaning to two other parsers."""
    judge(raw)


@bounded(150)
@given(recipes.mutated(recipes.requests()), recipes.cuts)
def test_any_split_gives_the_same(raw: bytes, cuts: list[int]) -> None:
    """Oracle C: however the bytes are split over receives, the outcome is the same."""
    whole, parts = reading.requests([raw]), reading.requests(reading.cut(raw, cuts))
    # A request whose body turns bad late was accepted until then: compare only complete requests.
    assert (parts.status == 0) == (whole.status == 0)
    done = [taken for taken in whole.taken if taken.done]
    again = [taken for taken in parts.taken if taken.done]
    assert [plain(taken) for taken in again] == [plain(taken) for taken in done]


def plain(taken: Taken) -> object:
    """The parts of a request that do not depend on how the client's chunks were received."""
    head = taken.out.partition(b"\r\n\r\n")[0]
    return head, reading.payload(taken.head, taken.out)


def test_the_second_opinions_are_independent() -> None:
    """The other parsers refuse a request that is clearly wrong, so their agreement is evidence."""
    for ask in (opinions.h11_request, opinions.llhttp_request):
        try:
            ask(b"GET / HTTP/1.1\r\nHost: a\r\nX : b\r\n\r\n")
        except RefusedError:
            continue
        raise AssertionError(ask)
