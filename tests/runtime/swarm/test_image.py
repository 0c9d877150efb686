"""The name by which nodes are told of the image."""

from __future__ import annotations

import pytest

from steelyard.runtime.swarm.image import pinned

SHOWN = {"Id": "sha256:aa", "RepoDigests": ["blog@sha256:cc", "host:5000/shop@sha256:bb"]}


@pytest.mark.parametrize(
    ("name", "pull", "told"),
    [
        ("host:5000/shop:2", "missing", "host:5000/shop:2@sha256:bb"),
        ("host:5000/shop", "always", "host:5000/shop@sha256:bb"),
        ("host:5000/shop@sha256:bb", "missing", "host:5000/shop@sha256:bb"),
        ("local:1", "missing", "local:1"),
        ("host:5000/shop:2", "never", "sha256:aa"),
    ],
)
def test_an_image_is_the_same_on_every_node(name: str, pull: str, told: str) -> None:
    """The digest is used if a registry gave one, the id if no registry may be asked."""
    assert pinned(SHOWN, name, pull) == told
