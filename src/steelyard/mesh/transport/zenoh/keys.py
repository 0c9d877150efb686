"""The names under which a mesh is known to Zenoh.

    steelyard/MESH/node/VERSION/IDENTITY/LOCATORS            token: this link is there
    steelyard/MESH/role/VERSION/IDENTITY/ROLE/SERIAL/INFO    token: its role, highest serial last
    steelyard/MESH/ask/VERSION/IDENTITY                      queries of the application
    steelyard/MESH/peers/VERSION/IDENTITY                    query: your links? (anti-entropy)
    steelyard/MESH/bye/IDENTITY                              said by a link that closes

Whatever is not letters and digits is in base64. The version stands where nodes of any other version
can read it.
"""

from __future__ import annotations

import base64
import json
import re
from dataclasses import dataclass
from typing import NamedTuple

from steelyard.errors import UsageError

LONGEST_INFO = 44 * 1024  # bytes; base64 makes it 4/3 of that, and Zenoh allows keys of 64 KiB
_NAME = re.compile(r"[A-Za-z0-9_.-]+")
_EMPTY = "-"


class Node(NamedTuple):
    """The parts of a link's token."""

    version: str
    identity: str
    locators: tuple[str, ...]


class Role(NamedTuple):
    """The parts of a role's token."""

    version: str
    identity: str
    role: str
    serial: int
    info: bytes


@dataclass(frozen=True, slots=True)
class Keys:
    """The key expressions of one mesh, for nodes of one version."""

    mesh: str
    version: str

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.mesh):
            raise UsageError(f"“{self.mesh}” cannot name a mesh", hint="use letters and digits")

    @property
    def _root(self) -> str:
        return f"steelyard/{self.mesh}"

    @property
    def everything(self) -> str:
        return f"{self._root}/**"

    @property
    def nodes(self) -> str:
        return f"{self._root}/node/**"

    @property
    def roles(self) -> str:
        return f"{self._root}/role/**"

    @property
    def byes(self) -> str:
        return f"{self._root}/bye/*"

    def node(self, identity: str, locators: list[str]) -> str:
        text = _encode(json.dumps(locators).encode())
        return f"{self._root}/node/{self.version}/{identity}/{text}"

    def role(self, identity: str, role: str, serial: int, info: bytes) -> str:
        if not _NAME.fullmatch(role):
            raise UsageError(f"“{role}” cannot name a role", hint="use letters and digits")
        if len(info) > LONGEST_INFO:
            raise UsageError(
                f"{len(info)} bytes of info are too many", hint=f"at most {LONGEST_INFO}"
            )
        where = f"{self._root}/role/{self.version}/{identity}"
        return f"{where}/{role}/{serial}/{_encode(info)}"

    def ask(self, identity: str) -> str:
        return f"{self._root}/ask/{self.version}/{identity}"

    def peers(self, identity: str) -> str:
        return f"{self._root}/peers/{self.version}/{identity}"

    def bye(self, identity: str) -> str:
        return f"{self._root}/bye/{identity}"


def read_node(key: str) -> Node:
    """Parse the token of a link; ValueError if it is none."""
    _, _, _, version, identity, text = key.split("/")
    return Node(version, identity, tuple(map(str, json.loads(_decode(text)))))


def read_role(key: str) -> Role:
    """Parse the token of a role; ValueError if it is none."""
    _, _, _, version, identity, role, serial, info = key.split("/")
    return Role(version, identity, role, int(serial), _decode(info))


def read_bye(key: str) -> str:
    """The identity of the link that said good-bye."""
    return key.rpartition("/")[2]


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode() or _EMPTY


def _decode(text: str) -> bytes:
    return b"" if text == _EMPTY else base64.urlsafe_b64decode(text)
