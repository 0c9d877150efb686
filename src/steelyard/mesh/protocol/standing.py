"""How a node stands with a client, as a table.

A node asks a client that may have work (READY) and learns its standing from the answer. The client
has more (READY), or has more for idle children only (LAST), or has nothing at all (DRY). If it has
nothing, the node parks a pull there (PARKED), which is answered when there is work. After a failure
the node lets the client rest for a moment (RESTING). A client that is gone has no standing.

The figure in docs/mesh.md is drawn from TABLE.
"""

from __future__ import annotations

from enum import StrEnum

from steelyard.errors import SteelyardError


class Standing(StrEnum):
    READY = "READY"
    ASKED = "ASKED"
    LAST = "LAST"
    DRY = "DRY"
    PARKED = "PARKED"
    RESTING = "RESTING"


class Word(StrEnum):
    ASK = "we ask"
    PARK = "we park a pull"
    MORE = "there is more"
    LATER = "there is more, for idle children"
    DRY = "there is nothing"
    FAILED = "no answer"
    RESTED = "rested"


_TALKING = tuple(here for here in Standing if here is not Standing.RESTING)
_LISTENING = (Standing.ASKED, Standing.PARKED)

TABLE: dict[tuple[Standing, Word], Standing] = {
    **{(here, Word.ASK): Standing.ASKED for here in _TALKING},
    **{(here, Word.PARK): Standing.PARKED for here in _TALKING},
    **{(here, Word.MORE): Standing.READY for here in _LISTENING},
    **{(here, Word.LATER): Standing.LAST for here in _LISTENING},
    **{(here, Word.DRY): Standing.DRY for here in _LISTENING},
    **{(here, Word.FAILED): Standing.RESTING for here in _LISTENING},
    (Standing.RESTING, Word.RESTED): Standing.READY,
}


class IllegalWordError(SteelyardError):
    """A word that the table does not know in this standing: a bug."""


def follow(standing: Standing, word: Word) -> Standing:
    """The next standing; an unknown pair raises and changes nothing."""
    try:
        return TABLE[standing, word]
    except KeyError:
        raise IllegalWordError(f"a client that is {standing} knows no “{word}”") from None
