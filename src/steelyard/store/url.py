"""The URL of a store, as it may be shown to people."""

from __future__ import annotations

from urllib.parse import urlsplit


def without_secrets(url: str) -> str:
    """The URL without the password and without options, which may hold one."""
    if "://" not in url:
        return url  # a file or memory: there is no secret in it
    parts = urlsplit(url)
    user, at, host = parts.netloc.rpartition("@")
    return f"{parts.scheme}://{user.partition(':')[0]}{at}{host}{parts.path}"
