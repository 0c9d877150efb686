"""Door: how a listening socket is given up without losing who stands in its queue.

A client whose handshake is done believes itself connected, though nobody has accepted it yet:
closing the socket resets it. So the door is shut first: a filter on the socket drops the SYN of
whoever comes now (its kernel tries again after a second, and is refused, as the socket is closed
by then), while handshakes under way are finished, and who waits is accepted. No right is needed.
"""

from __future__ import annotations

import ctypes
import socket
import struct

SO_ATTACH_FILTER = 26  # asm-generic/socket.h
SETTLE = 0.1  # seconds for handshakes under way: a round trip

# Classic BPF on a TCP segment: flags, without all but SYN and ACK; SYN alone is dropped.
_PROGRAM = (
    (0x30, 0, 0, 13),  # load the byte at 13: the flags (RFC 9293, 3.1)
    (0x54, 0, 0, 0x12),  # and SYN | ACK
    (0x15, 0, 1, 0x02),  # is it SYN? else skip one
    (0x06, 0, 0, 0),  # drop
    (0x06, 0, 0, 0xFFFFFFFF),  # pass
)


def shut(sock: socket.socket) -> None:
    """Let nobody new in. Accepted sockets inherit the filter, which means nothing to them."""
    code = b"".join(struct.pack("HBBI", *step) for step in _PROGRAM)
    buffer = ctypes.create_string_buffer(code)
    program = struct.pack("HxxxxxxQ", len(_PROGRAM), ctypes.addressof(buffer))
    sock.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, program)
