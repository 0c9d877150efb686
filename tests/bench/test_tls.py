"""The certificate of the servers whose TLS is measured."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.bench.tls import certificate
from tests.strict import complaints


@pytest.mark.needs("openssl")
@pytest.mark.parametrize("config", [None, "/dev/null"])
def test_a_strict_check_finds_nothing_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, config: str | None
) -> None:
    """The certificate is the same whatever the machine's configuration of `openssl` says."""
    if config is not None:
        monkeypatch.setenv("OPENSSL_CONF", config)
    made, _ = certificate(tmp_path)
    assert complaints(made, made) == ""
