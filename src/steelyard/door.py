"""Door: closes a listening socket without losing the clients in its accept queue.

A client whose handshake is done believes itself connected, though nobody has accepted it yet, and
closing the socket would reset its connection. So the door is shut first: a filter on the socket
drops the SYN of each new client (its kernel repeats the SYN after a second, and is refused, as the
socket is closed by then), while handshakes under way are finished, and waiting clients are
accepted. The filter needs no special rights.
"""

from __future__ import annotations

import ctypes
import socket
import struct

SO_ATTACH_FILTER = 26  # asm-generic/socket.h
SETTLE = 0.1  # seconds for handshakes under way, which take one round trip

# Classic BPF on a TCP segment: keep only SYN and ACK of the flags; drop a segment with SYN alone.
_PROGRAM = (
    (0x30, 0, 0, 13),  # load the byte at 13: the flags (RFC 9293, 3.1)
    (0x54, 0, 0, 0x12),  # and SYN | ACK
    (0x15, 0, 1, 0x02),  # if they are SYN alone, go on, else skip one step
    (0x06, 0, 0, 0),  # drop
    (0x06, 0, 0, 0xFFFFFFFF),  # pass
)


def shut(sock: socket.socket) -> None:
    """Drop new clients. Accepted sockets inherit the filter, which does not affect them."""
    code = b"".join(struct.pack("HBBI", *step) for step in _PROGRAM)
    buffer = ctypes.create_string_buffer(code)
    program = struct.pack("HxxxxxxQ", len(_PROGRAM), ctypes.addressof(buffer))
    sock.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, program)
