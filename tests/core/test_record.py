"""Records and their key, and when one is written."""

from __future__ import annotations

from steelyard.core.ledger import Ledger
from steelyard.core.lifecycle import Signal
from steelyard.core.meter import Meter, Rating
from steelyard.core.record import record_key
from steelyard.core.usage import Machine
from steelyard.core.worker import Worker


def test_the_key_is_the_md5_of_application_and_name():
    """The key is the one that seed 000 defines in section 7."""
    assert record_key("app", "w1") == "a14af429f87355eb5848c12cb22467b3"


def test_a_record_is_written_only_when_it_changed():
    """The ledger remembers the records that the store holds."""
    ledger = Ledger("app", "serve")
    worker = Worker("w1", 0, 0.0, Meter(Rating(Machine(1, 1))))
    assert ledger.changed(worker, default=True) is not None
    assert ledger.changed(worker, default=True) is None
    worker.move(Signal.READY, 1.0)
    assert ledger.changed(worker, default=True) is not None
    ledger.forget("w1")
    assert ledger.changed(worker, default=True) is not None
