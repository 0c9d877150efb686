"""Room on the disk, reserved before it is needed.

On a full disk, a program whose standard output is a file gets an error when it prints, and many
programs then fail the request, or end. Blocks that are reserved after the end of its log
(fallocate(2) with FALLOC_FL_KEEP_SIZE) are there for its next lines, whatever others write. Where
the file system cannot reserve blocks (NFS before 4.2), the free space is checked instead.
"""

from __future__ import annotations

import ctypes
import errno
import os
from pathlib import Path

FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
RESERVE = 1024 * 1024  # bytes that a worker can print between two checks, whatever others write
_KEEP_SIZE = 1
_CANNOT = frozenset({errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL})
_BLOCK = 512  # bytes, the unit of st_blocks
_libc = ctypes.CDLL(None, use_errno=True)


def reserve(descriptor: int) -> None:
    """Reserve room after the end of a file; raise OSError if there is none."""
    size = os.fstat(descriptor).st_size
    begin, length = ctypes.c_int64(size), ctypes.c_int64(RESERVE)
    if _libc.fallocate64(descriptor, _KEEP_SIZE, begin, length) == 0:
        return
    number = ctypes.get_errno()
    if number not in _CANNOT:
        raise OSError(number, os.strerror(number))
    if not is_room(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def reserved(path: Path) -> int:
    """The number of bytes that a file has room for after its end."""
    found = path.stat()
    return found.st_blocks * _BLOCK - found.st_size


def release(path: Path) -> None:
    """Give back the room reserved for a file that is no longer written."""
    if reserved(path) >= RESERVE // 2:
        os.truncate(path, path.stat().st_size)


def is_room(place: int | Path) -> bool:
    """Whether the disk of a file or folder has room for the log of one more worker."""
    found = os.statvfs(place)
    free = found.f_bfree if os.geteuid() == 0 else found.f_bavail
    return free * found.f_frsize >= RESERVE
