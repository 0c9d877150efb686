"""The findings of `steelyard check` about certificates and stores, and the notes of a start."""

from __future__ import annotations

import json
import socket
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.balancer.authority import issue
from tests.cli.test_main import run
from tests.redis_server import RedisServer

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
    """A good certificate is shown with its names and its expiry."""
    good = issue(tmp_path, "a.org", "*.a.org")
    begins = datetime.now(UTC) - timedelta(days=9)
    old = issue(tmp_path, "b.org", begins=begins, ends=begins + timedelta(days=1))
    status, found = checked(tmp_path, good, old)
    (one, first), (two, _), (three, note) = found
    assert (status, one, two, three) == (0, "ok", "ok", "note")
    assert "for a.org, *.a.org, until" in first
    assert f"{old[0]} expired on" in note


def test_a_bad_one_is_wrong(tmp_path: Path) -> None:
    """A key that does not fit is reported with the files and a remedy."""
    certificate, _ = issue(tmp_path, "a.org")
    _, key = issue(tmp_path, "b.org")
    status, [(verdict, detail)] = checked(tmp_path, (certificate, key))
    assert (status, verdict) == (1, "wrong")
    assert f"the key in {key} does not belong to the certificate in {certificate}" in detail
    assert "openssl" in detail


@pytest.mark.parametrize("command", ["up", "balancer"])
def test_nothing_starts_without_its_certificate(tmp_path: Path, command: str) -> None:
    """A missing certificate is reported at once, as a sentence with a hint."""
    missing = str(tmp_path / "missing.pem")
    rest = ["--worker", "127.0.0.1:1"] if command == "balancer" else ["--", "sleep", "{port}"]
    state = tmp_path / "state"
    done = run(command, *FREE, "--state", str(state), "--tls-cert", missing, *rest)
    assert done.returncode == 2
    assert f"{missing} cannot be read: No such file" in done.stderr
    assert "→" in done.stderr
    assert "Traceback" not in done.stderr
    assert not state.exists()


def store_checked(folder: Path, url: str) -> tuple[int, str, str]:
    """The exit status, and the finding about the store."""
    words = ["check", "--json", "--state", str(folder), *FREE, "--store", url]
    done = run(*words, "--", "sleep", "{port}")
    [mine] = [one for one in json.loads(done.stdout)["findings"] if one["what"] == "store"]
    return done.returncode, mine["verdict"], mine["detail"]


@pytest.mark.needs("redis")
def test_a_store_in_redis(tmp_path: Path) -> None:
    """A store that refuses us is wrong; one that is down is a note: the agent starts without it."""
    with RedisServer(tmp_path, "--requirepass", "right") as server:
        right = server.url.replace("//", "//:right@")
        assert store_checked(tmp_path, right) == (0, "ok", server.url.replace("//", "//@"))
        status, verdict, detail = store_checked(tmp_path, server.url)
        assert (status, verdict) == (1, "wrong")
        assert "password into the URL" in detail
    status, verdict, detail = store_checked(tmp_path, right)
    assert (status, verdict) == (0, "note")
    assert "does a server run there" in detail
    assert "right" not in detail


def test_a_start_repeats_the_notes_of_a_check(tmp_path: Path) -> None:
    """A start repeats the note about a missing {port}; a port in use ends this start at once."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        used = f"127.0.0.1:{taken.getsockname()[1]}"
        words = ["--listen", "127.0.0.1:0", "--agent-listen", used, "--state", str(tmp_path)]
        done = run("up", *words, "--", "sleep", "1000")
    assert "note: command: " in done.stderr
    assert "it has no {port}, so it must listen on $PORT" in done.stderr
    assert f"{used} is in use" in done.stderr
