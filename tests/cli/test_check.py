"""What `steelyard check` finds out about certificates, and what a start says about them."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.balancer.authority import issue
from tests.cli.test_main import run

FREE = ("--listen", "127.0.0.1:0", "--agent-listen", "127.0.0.1:0")


def checked(folder: Path, *pairs: tuple[Path, Path]) -> tuple[int, list[tuple[str, str]]]:
    """The exit status, and the findings about certificates."""
    certificates = json.dumps([str(certificate) for certificate, _ in pairs])
    keys = json.dumps([str(key) for _, key in pairs])
    words = ["check", "--json", "--state", str(folder), *FREE]
    done = run(*words, "--tls-cert", certificates, "--tls-key", keys, "--", "sleep", "{port}")
    found = json.loads(done.stdout)["findings"]
    mine = [one for one in found if one["what"] == "certificates"]
    return done.returncode, [(one["verdict"], one["detail"]) for one in mine]


def test_good_certificates_are_described(tmp_path: Path) -> None:
    """Their names and their end."""
    good = issue(tmp_path, "a.org", "*.a.org")
    begins = datetime.now(UTC) - timedelta(days=9)
    old = issue(tmp_path, "b.org", begins=begins, ends=begins + timedelta(days=1))
    status, found = checked(tmp_path, good, old)
    (one, first), (two, _), (three, note) = found
    assert (status, one, two, three) == (0, "ok", "ok", "note")
    assert "for a.org, *.a.org, until" in first
    assert f"{old[0]} expired on" in note


def test_a_bad_one_is_wrong(tmp_path: Path) -> None:
    """With the file, the fault and what to do."""
    certificate, _ = issue(tmp_path, "a.org")
    _, key = issue(tmp_path, "b.org")
    status, [(verdict, detail)] = checked(tmp_path, (certificate, key))
    assert (status, verdict) == (1, "wrong")
    assert f"the key in {key} does not belong to the certificate in {certificate}" in detail
    assert "openssl" in detail


@pytest.mark.parametrize("command", ["up", "balancer"])
def test_nothing_starts_without_its_certificate(tmp_path: Path, command: str) -> None:
    """A sentence and a hint, at once."""
    missing = str(tmp_path / "missing.pem")
    rest = ["--worker", "127.0.0.1:1"] if command == "balancer" else ["--", "sleep", "{port}"]
    state = tmp_path / "state"
    done = run(command, *FREE, "--state", str(state), "--tls-cert", missing, *rest)
    assert done.returncode == 2
    assert f"{missing} cannot be read: No such file" in done.stderr
    assert "→" in done.stderr
    assert "Traceback" not in done.stderr
    assert not state.exists()
