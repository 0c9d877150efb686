from __future__ import annotations

import pytest

from steelyard.errors import UsageError
from steelyard.mesh.transport.zenoh.keys import LONGEST_INFO, Keys, Role, read_role

KEYS = Keys("tiles", "1")


@pytest.mark.parametrize("info", [b"", b"/*?#$", bytes(range(256)), bytes(LONGEST_INFO)])
def test_a_role_comes_back_as_it_was(info: bytes) -> None:
    """Any info fits into a key that Zenoh allows, and is read back unchanged."""
    key = KEYS.role("1f", "worker", 7, info)
    assert len(key) < 64 * 1024
    assert read_role(key) == Role("1", "1f", "worker", 7, info)


def test_what_is_no_key_is_refused() -> None:
    """Too much info is refused, and so are names with a special meaning for Zenoh."""
    with pytest.raises(UsageError, match="bytes of info"):
        KEYS.role("1f", "worker", 1, bytes(LONGEST_INFO + 1))
    with pytest.raises(UsageError, match="cannot name a role"):
        KEYS.role("1f", "a/b", 1, b"")
    with pytest.raises(UsageError, match="cannot name a mesh"):
        Keys("**", "1")
