from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.errors import UsageError
from steelyard.mesh.certs import make_members
from steelyard.mesh.transport.security import Security, secure_endpoints

SECURITY = Security(Path("ca.pem"), Path("node.pem"), Path("node.key"))


def test_loopback_needs_no_certificates() -> None:
    """On loopback connections are plain, unless there are certificates."""
    assert [str(one) for one in secure_endpoints(["127.0.0.1:1"], None)] == ["tcp/127.0.0.1:1"]
    assert [str(one) for one in secure_endpoints(["127.0.0.1:1"], SECURITY)] == ["tls/127.0.0.1:1"]


@pytest.mark.parametrize("text", ["10.0.0.1:1", "tcp/0.0.0.0:1", "tcp/example.org:1"])
def test_off_loopback_certificates_are_demanded(text: str) -> None:
    """Off loopback, plain TCP is refused unless `insecure` is given."""
    with pytest.raises(UsageError, match="neither on loopback nor encrypted"):
        secure_endpoints([text], None)
    assert secure_endpoints([text], None, insecure=True)


def test_plain_tcp_off_loopback_is_refused_with_certificates_too() -> None:
    """Plain TCP off loopback is refused although there are certificates, as they would not
    be used.
    """
    with pytest.raises(UsageError, match="neither on loopback nor encrypted") as told:
        secure_endpoints(["tcp/10.0.0.1:1"], SECURITY)
    assert told.value.hint == "write tls/10.0.0.1:1"
    assert [str(one) for one in secure_endpoints(["10.0.0.1:1"], SECURITY)] == ["tls/10.0.0.1:1"]


def test_files_that_do_not_belong_together_are_named(tmp_path: Path) -> None:
    """The error names the files before the node listens, or OpenSSL asks for a password."""
    alpha, beta = (one.folder for one in make_members(tmp_path, ["alpha", "beta"], 1, renew=False))
    assert Security.from_folder(alpha).context()
    mixed = Security(alpha / "ca.pem", alpha / "node.pem", beta / "node.key")
    with pytest.raises(UsageError, match=r"alpha/node\.pem with .*beta/node\.key cannot be used"):
        mixed.context()
    (beta / "ca.pem").write_text("nothing")
    with pytest.raises(UsageError, match=r"beta/ca\.pem cannot be used"):
        Security.from_folder(beta).context()
    nameless = Security.from_folder(alpha, [""])
    with pytest.raises(UsageError, match="the name of a member is empty"):
        nameless.context()
    (beta / "node.pem").unlink()
    with pytest.raises(UsageError, match=r"beta/node\.pem is not there"):
        Security.from_folder(beta).context()


def test_tls_without_certificates_is_refused() -> None:
    """TLS without certificates is refused."""
    with pytest.raises(UsageError, match="needs certificates"):
        secure_endpoints(["tls/127.0.0.1:1"], None)
