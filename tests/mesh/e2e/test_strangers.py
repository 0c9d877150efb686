"""Nodes that do not belong together: each tells its own user what is wrong, and goes on."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from steelyard import mesh
from steelyard.mesh.certs import make_members
from steelyard.mesh.protocol import unserved
from steelyard.mesh.transport.zenoh import doubts
from tests.mesh import jobs
from tests.mesh.conftest import PATIENCE
from tests.mesh.e2e.workers import Worker
from tests.ports import free_port
from tests.waiting import wait_until


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients of this process look for the reason soon, and give up soon after."""
    for name in ("FIRST", "AGAIN", "THEN"):
        monkeypatch.setattr(doubts, name, 0.2)
    monkeypatch.setattr(unserved, "PATIENCE", 0.2)


def member(folder: Path) -> Path:
    """The folder of a node, made by an authority of its own."""
    return make_members(folder, ["node"], 1, renew=False)[0].folder


def test_certificates_of_another_authority(tmp_path: Path) -> None:
    """Both the node that joins and the node that is joined tell their users."""
    with (
        Worker(certs=member(tmp_path / "ours")) as node,
        Worker(node.endpoint, certs=member(tmp_path / "theirs")) as stranger,
    ):
        wait_until(lambda: stranger.said("our mesh's authority did not sign"), PATIENCE)
        wait_until(lambda: node.said("a peer refuses our certificate"), PATIENCE)


def test_a_job_does_not_wait_for_a_mesh_that_will_not_have_it(
    tmp_path: Path, impatient: None
) -> None:
    """The units are refused with the reason, and the node goes on."""
    ours = mesh.Security.from_folder(member(tmp_path / "ours"))
    with Worker(certs=member(tmp_path / "theirs")) as node:
        place = mesh.Place(join=[node.endpoint], security=ours)
        with mesh.Client(place=place) as client:
            (answer,) = client.map(jobs.double, [1]).as_completed(PATIENCE)
        assert isinstance(answer.error, mesh.UnitRefusedError)
        assert "our mesh's authority did not sign" in str(answer.error)
        wait_until(lambda: node.said("a peer"), PATIENCE)


def test_a_job_waits_for_nodes_that_come_later(
    tmp_path: Path, impatient: None, caplog: pytest.LogCaptureFixture
) -> None:
    """A job waits for a later node although one of its two endpoints is of another mesh."""
    ours, later = member(tmp_path / "ours"), f"127.0.0.1:{free_port()}"
    security = mesh.Security.from_folder(ours)
    with Worker(certs=member(tmp_path / "theirs")) as stranger:
        place = mesh.Place(join=[stranger.endpoint, later], security=security)
        with mesh.Client(place=place) as client:
            waiting = client.submit(jobs.double, 4)
            wait_until(lambda: caplog.text.count("cannot be joined yet") >= 3, PATIENCE)
            with Worker(certs=ours, listen=later):
                assert waiting.result(PATIENCE) == 8


def test_somebody_who_speaks_no_tls(tmp_path: Path) -> None:
    """A node tells its user of a peer that speaks no TLS, such as a browser or a scanner."""
    with Worker(certs=member(tmp_path)) as node:
        host, _, port = node.endpoint.removeprefix("tls/").rpartition(":")
        with socket.create_connection((host, int(port))) as plain:
            plain.sendall(b"GET / HTTP/1.1\r\n\r\n")
            wait_until(lambda: node.said("does not speak TLS"), PATIENCE)
