"""Room on the disk, reserved before it is needed.

A program whose standard output is a file gets an error for what it prints when the disk is full,
and many programs then fail the request, or end. Blocks that are reserved behind the end of its log
(fallocate(2) with FALLOC_FL_KEEP_SIZE) are there for its next lines whatever others write. A file
system that cannot reserve anything (NFS before 4.2) is asked how much room is left instead.
"""

from __future__ import annotations

import ctypes
import errno
import os
from pathlib import Path

FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
RESERVE = 1024 * 1024  # bytes that a worker can print between two looks, whatever others write
_KEEP_SIZE = 1
_CANNOT = frozenset({errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL})
_BLOCK = 512  # bytes, the unit of st_blocks
_libc = ctypes.CDLL(None, use_errno=True)


def reserve(descriptor: int) -> None:
    """Reserve room behind the end of a file; raise OSError when there is none."""
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
    """How many bytes a file has room for behind its end."""
    found = path.stat()
    return found.st_blocks * _BLOCK - found.st_size


def release(path: Path) -> None:
    """Give back what was reserved for a file that is not written any more."""
    if reserved(path) >= RESERVE // 2:
        os.truncate(path, path.stat().st_size)


def is_room(place: int | Path) -> bool:
    """Whether the disk of a file or folder has room for the log of one more worker."""
    found = os.statvfs(place)
    free = found.f_bfree if os.geteuid() == 0 else found.f_bavail
    return free * found.f_frsize >= RESERVE
