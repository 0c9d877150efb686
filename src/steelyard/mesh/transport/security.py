"""Who may take part: any program with a certificate from the mesh's own authority. Off loopback,
certificates are always required.

Both sides of every connection show one (mTLS). The name in a certificate is not compared with an
address, as members are equals and addresses change. Names serve to shut a member out.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from steelyard.errors import UsageError
from steelyard.mesh.transport.endpoints import Endpoint, parse


@dataclass(frozen=True, slots=True)
class Security:
    """The files of one member, as `steelyard mesh certs` makes them."""

    authority: Path
    certificate: Path
    key: Path
    # Common names that may take part; if empty, every certificate of the authority may.
    members: tuple[str, ...] = ()

    @classmethod
    def from_folder(cls, folder: str | Path, members: Sequence[str] = ()) -> Security:
        """The files of one member, in a folder that `steelyard mesh certs` made."""
        own = Path(folder)
        return cls(own / "ca.pem", own / "node.pem", own / "node.key", tuple(members))

    def context(self) -> ssl.SSLContext:
        """The TLS context of a client that shows this certificate. An error says which file is of
        no use.

        Whether key and certificate belong together is found out here, before a peer refuses us for
        it.
        """
        if not all(self.members):
            raise UsageError("the name of a member is empty", hint="name it, or leave it out")
        for file in (self.authority, self.certificate, self.key):
            with _of_use(file):
                is_there = file.is_file()
            if not is_there:
                raise UsageError(
                    f"{file} is not there", hint="`steelyard mesh certs` makes certificates"
                )
        with _of_use(self.authority):
            context = ssl.create_default_context(cafile=self.authority)
        with _of_use(self.certificate, self.key):
            context.load_cert_chain(self.certificate, self.key, password="")
        return context


@contextmanager
def _of_use(*files: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:  # ssl's errors are OSErrors, too
        why = getattr(error, "reason", None) or error.strerror or error
        raise UsageError(
            f"{' with '.join(map(str, files))} cannot be used: {why}",
            hint="`steelyard mesh certs --renew` makes new ones",
        ) from None


def secure_endpoints(
    texts: Sequence[str], security: Security | None, *, insecure: bool = False
) -> list[Endpoint]:
    """Endpoints from texts that a person wrote. An endpoint that strangers could use is refused."""
    endpoints = [parse(text, "tcp" if security is None else "tls") for text in texts]
    for endpoint in endpoints:
        if endpoint.protocol == "tls" and security is None:
            raise UsageError(
                f"{endpoint} needs certificates", hint="`steelyard mesh certs` makes them"
            )
        if endpoint.protocol == "tcp" and not endpoint.local and not insecure:
            raise UsageError(
                f"{endpoint} is neither on loopback nor encrypted: anybody could run units",
                hint=f"write {replace(endpoint, protocol='tls')}"
                if security is not None
                else "`steelyard mesh certs` makes certificates; --insecure (in Python "
                "insecure=True) does without",
            )
    return endpoints
