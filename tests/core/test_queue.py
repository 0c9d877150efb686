"""The queue message."""

from __future__ import annotations

import json

import pytest

from steelyard.core.lifecycle import State
from steelyard.core.queue import Entry, Queue, parse_queue
from steelyard.errors import Fault, MalformedError

QUEUE = Queue(
    application="app",
    epoch="e1",
    version=3,
    workers=(
        Entry(name="w1", host="127.0.0.1", port=21000, score=90, state=State.LU, weight=90),
        Entry(name="w2", host="::1", port=21001, score=10, state=State.SUNDOWN, weight=0),
    ),
)


def test_a_queue_survives_the_wire():
    """A queue that is written and parsed again is the same."""
    assert parse_queue(QUEUE.model_dump_json()) == QUEUE


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"version": -1}, "version"),
        ({"version": None}, "version"),
        ({"extra": 1}, "extra"),
        ({"workers": [{"name": "w"}]}, r"workers\.0\.host"),
    ],
)
def test_a_malformed_queue_is_refused_with_its_place(change, place):
    """The error names the first wrong field, and the peer as the side at fault."""
    message = json.loads(QUEUE.model_dump_json()) | change
    with pytest.raises(MalformedError, match=f"malformed queue: {place}") as caught:
        parse_queue(json.dumps(message))
    assert caught.value.fault is Fault.PEER


def test_what_is_not_json_is_refused():
    """Text that is not JSON raises a MalformedError."""
    with pytest.raises(MalformedError, match="malformed queue: message"):
        parse_queue("hello")
