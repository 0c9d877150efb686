"""Fuzzing of answers: the client gets an answer with the same meaning, by three parsers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.balancer import reading
from tests.balancer.fuzz import exceptions, opinions, recipes
from tests.balancer.fuzz.budget import bounded
from tests.balancer.fuzz.opinions import Meaning
from tests.balancer.fuzz.recipes import Recipe
from tests.balancer.reading import Relay, end_to_end, pairs

METHODS = [b"GET", b"POST", b"HEAD"]
BODILESS = (204, 304)


def asked(method: bytes, version: bytes = b"HTTP/1.1") -> bytes:
    """The head of the request that is answered."""
    return method + b" / " + version + b"\r\nHost: a.org"


def final(out: bytes) -> bytes:
    """The final answer, without the interim answers before it."""
    while out[9:10] == b"1":
        out = out.partition(b"\r\n\r\n")[2]
    return out


def agrees(opinion: Meaning, relay: Relay, data: bytes, method: bytes) -> None:
    """Check that another parser reads the answer as the balancer does."""
    head = relay.head
    assert head is not None
    assert opinion.start == (b"%d" % head.status,)
    lines = [pair for pair in end_to_end(pairs(head.lines)) if pair[0] != b"content-length"]
    names = {name for name, _ in lines}
    assert [pair for pair in end_to_end(opinion.fields) if pair[0] in names] == lines
    if method != b"HEAD" and head.status not in BODILESS:
        body, trailers = reading.payload(head, final(data))
        assert opinion.body == body
        kept = [pair for pair in opinion.trailers if pair in pairs(trailers)]
        assert kept == pairs(trailers)


def second_opinions(relay: Relay, raw: bytes, method: bytes) -> None:
    """Oracle B: other parsers agree on the worker's bytes and on the bytes for the client."""
    if not exceptions.bad_whitespace(raw):
        agrees(opinions.h11_answer(raw, method), relay, raw, method)
    agrees(opinions.h11_answer(relay.out, method), relay, raw, method)
    if method == b"HEAD":
        return  # llhttp is not told the method, and would wait for a body
    if not any(reason(raw) for reason in exceptions.LLHTTP_ANSWER):
        agrees(opinions.llhttp_answer(raw), relay, raw, method)
    agrees(opinions.llhttp_answer(relay.out), relay, raw, method)


def survives(relay: Relay, raw: bytes, method: bytes) -> None:
    """Oracle A: the bytes for the client are parsed to exactly the answer that was accepted."""
    again = reading.answer([relay.out], asked(method))
    first, second = relay.head, again.head
    assert first is not None
    assert second is not None
    assert second.status == first.status
    lines = [line for line in first.lines if first.status != 204 or b"ength" not in line]
    assert end_to_end(pairs(second.lines)) == end_to_end(pairs(lines))
    if method != b"HEAD" and first.status not in BODILESS:
        assert reading.payload(second, final(relay.out)) == reading.payload(first, final(raw))


def judge(raw: bytes, method: bytes) -> Relay:
    """Apply oracles A and B to this answer, if it is accepted."""
    relay = reading.answer([raw], asked(method))
    if not relay.refused:
        survives(relay, raw, method)
        second_opinions(relay, raw, method)
    return relay


@bounded(80)
@given(recipes.answers(), st.sampled_from(METHODS))
def test_good_answers(recipe: Recipe, method: bytes) -> None:
    """An answer that follows the grammar is relayed, with its body and its trailers."""
    relay = judge(recipe.raw, method)
    assert relay.head is not None
    if method != b"HEAD":
        body, trailers = reading.payload(relay.head, recipe.raw)
        assert (body, trailers) == (recipe.framed.body, recipe.framed.trailers)


@bounded(250)
@given(recipes.mutated(recipes.answers()), st.sampled_from(METHODS))
def test_mutated_answers(raw: bytes, method: bytes) -> None:
    """A mutated answer that the balancer accepts has the same meaning to two other parsers."""
    judge(raw, method)


@bounded(100)
@given(recipes.mutated(recipes.answers()), st.sampled_from(METHODS), recipes.cuts)
def test_any_split_gives_the_same(raw: bytes, method: bytes, cuts: list[int]) -> None:
    """Oracle C: however the bytes are split over receives, the outcome is the same."""
    whole = reading.answer([raw], asked(method))
    parts = reading.answer(reading.cut(raw, cuts), asked(method))
    assert parts.refused == whole.refused
    if whole.head is not None:
        assert plain(parts, method) == plain(whole, method)


@bounded(100)
@given(recipes.mutated(recipes.answers()))
def test_old_clients_get_no_chunks(raw: bytes) -> None:
    """An HTTP/1.0 client gets the body without chunks, and no interim answer."""
    relay = reading.answer([raw], asked(b"GET", b"HTTP/1.0"))
    if relay.head is not None:
        assert final(relay.out) == relay.out
        assert b"\r\ntransfer-encoding:" not in relay.out.partition(b"\r\n\r\n")[0].lower()
        if relay.head.status not in BODILESS:
            body = relay.out.partition(b"\r\n\r\n")[2]
            assert body == reading.payload(relay.head, final(raw))[0]


def plain(relay: Relay, method: bytes) -> object:
    """The parts of an answer that do not depend on how the worker's chunks were received."""
    out = final(relay.out)
    again = reading.answer([out], asked(method)).head
    assert again is not None
    return relay.out.partition(b"\r\n\r\n")[0], again.lines, reading.payload(again, out)
