"""Nodes that do not belong together: each tells its own user what is wrong, and goes on."""

from __future__ import annotations

import socket
from pathlib import Path

from steelyard.mesh.certs import make_members
from tests.mesh.conftest import PATIENCE
from tests.mesh.e2e.workers import Worker
from tests.waiting import wait_until


def member(folder: Path) -> Path:
    """The folder of a node, of an authority of its own."""
    return make_members(folder, ["node"], 1, renew=False)[0].folder


def test_certificates_of_another_authority(tmp_path: Path) -> None:
    """Who joins is told, and so is who is joined."""
    with (
        Worker(certs=member(tmp_path / "ours")) as node,
        Worker(node.endpoint, certs=member(tmp_path / "theirs")) as stranger,
    ):
        wait_until(lambda: stranger.said("not of our mesh's authority"), PATIENCE)
        wait_until(lambda: node.said("who connected refuses our certificate"), PATIENCE)


def test_somebody_who_speaks_no_tls(tmp_path: Path) -> None:
    """A browser, a scanner, or a node that joins tcp/…"""
    with Worker(certs=member(tmp_path)) as node:
        host, _, port = node.endpoint.removeprefix("tls/").rpartition(":")
        with socket.create_connection((host, int(port))) as plain:
            plain.sendall(b"GET / HTTP/1.1\r\n\r\n")
            wait_until(lambda: node.said("does not speak TLS"), PATIENCE)
