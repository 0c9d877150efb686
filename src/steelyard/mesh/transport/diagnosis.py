"""Finds out why a node that was named cannot be joined, by one connection of our own, as Zenoh does
not say.

The connection is made as a node would make it, up to the end of the TLS handshake and a little
longer: a server may refuse a certificate only after the handshake (RFC 8446, 4.4.4).
"""

from __future__ import annotations

import socket
import ssl
from contextlib import suppress

from steelyard.errors import UsageError
from steelyard.mesh.transport.base import Trouble
from steelyard.mesh.transport.endpoints import Endpoint
from steelyard.mesh.transport.security import Security

PATIENCE = 2.0  # seconds, for each step
WORD = 0.5  # seconds to wait for a refusal
_NO_TLS = "{} does not speak TLS: write tcp/…, or start it with certificates"
_NO_LINK = (
    "{} answers, but does not link to us; is it a node of a mesh of our name, and are we a member?"
)


def diagnose(endpoint: Endpoint, security: Security | None) -> Trouble:
    """What is wrong with this endpoint. The trouble is lasting if anything answers there."""
    try:
        with socket.create_connection((endpoint.host, endpoint.port), PATIENCE) as plain:
            if endpoint.protocol == "tls" and security is not None:
                return Trouble(_shake_hands(plain, endpoint, security), lasting=True)
            return Trouble(_look(plain, endpoint), lasting=True)
    except OSError as error:
        return Trouble(
            f"{endpoint} cannot be joined yet: {error.strerror or error}; it will be tried again"
        )


def _shake_hands(plain: socket.socket, endpoint: Endpoint, security: Security) -> str:
    try:
        context = security.context()
    except UsageError as error:
        return str(error)
    context.check_hostname = False
    try:
        with context.wrap_socket(plain) as secure:
            secure.settimeout(WORD)
            with suppress(TimeoutError):
                secure.recv(1)
    except TimeoutError:
        return _NO_TLS.format(endpoint)
    except ssl.SSLCertVerificationError as error:
        why = error.verify_message
        return f"{endpoint} has a certificate that our mesh's authority did not sign: {why}"
    except ssl.SSLError as error:
        if error.reason in ("WRONG_VERSION_NUMBER", "UNEXPECTED_EOF_WHILE_READING", None):
            return _NO_TLS.format(endpoint)
        return f"{endpoint} refuses our certificate: {error.reason}"
    return _NO_LINK.format(endpoint)


def _look(plain: socket.socket, endpoint: Endpoint) -> str:
    """Find out whether the listener wants TLS: a TLS server answers the first message of a
    handshake.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with context.wrap_socket(plain):
            pass
    except ssl.SSLError as error:
        if error.reason is None or "ALERT" not in error.reason:
            return _NO_LINK.format(endpoint)
    except OSError:
        return _NO_LINK.format(endpoint)
    return f"{endpoint} wants TLS with certificates: write tls/…; `steelyard mesh certs` makes them"
