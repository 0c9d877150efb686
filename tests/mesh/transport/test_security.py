from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.errors import UsageError
from steelyard.mesh.transport.security import Security, secure_endpoints

SECURITY = Security(Path("ca.pem"), Path("node.pem"), Path("node.key"))


def test_loopback_needs_no_certificates() -> None:
    """What stays on the machine is plain, unless there are some."""
    assert [str(one) for one in secure_endpoints(["127.0.0.1:1"], None)] == ["tcp/127.0.0.1:1"]
    assert [str(one) for one in secure_endpoints(["127.0.0.1:1"], SECURITY)] == ["tls/127.0.0.1:1"]


@pytest.mark.parametrize("text", ["10.0.0.1:1", "tcp/0.0.0.0:1", "tcp/example.org:1"])
def test_off_loopback_certificates_are_demanded(text: str) -> None:
    """Plain TCP must be asked for by name."""
    with pytest.raises(UsageError, match="neither on loopback nor encrypted"):
        secure_endpoints([text], None)
    assert secure_endpoints([text], None, insecure=True)


def test_plain_tcp_off_loopback_is_refused_with_certificates_too() -> None:
    """They would not be used."""
    with pytest.raises(UsageError, match="neither on loopback nor encrypted") as told:
        secure_endpoints(["tcp/10.0.0.1:1"], SECURITY)
    assert told.value.hint == "write tls/10.0.0.1:1"
    assert [str(one) for one in secure_endpoints(["10.0.0.1:1"], SECURITY)] == ["tls/10.0.0.1:1"]


def test_tls_without_certificates_is_refused() -> None:
    """There is nothing to show."""
    with pytest.raises(UsageError, match="needs certificates"):
        secure_endpoints(["tls/127.0.0.1:1"], None)
