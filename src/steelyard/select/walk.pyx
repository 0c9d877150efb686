"""Walk, compiled; `walk.py` says what it does and why."""

from cpython.list cimport PyList_GET_SIZE
from cpython.ref cimport PyObject

cdef extern from *:
    void prefetch "__builtin_prefetch"(const void* address) noexcept nogil

cdef extern from "Python.h":
    PyObject* item "PyList_GET_ITEM"(object slots, Py_ssize_t at) noexcept

# Members of a large fleet lie all over the memory, and returning one counts a reference to it. The
# walk knows which members come next: a step fetches the one so many slots ahead into the cache.
cdef enum:
    AHEAD = 16


cdef class Walk:
    """Gives the slots in turn; a step holds the interpreter lock from its first line to its last.

    >>> walk = Walk("abc")
    >>> "".join(walk.pick() for _ in range(7))
    'abcabca'
    """

    def __init__(self, slots):
        self._slots = list(slots)
        self._at = 0

    def pick(self):
        """The next slot."""
        return self.step()

    # Not `pick` itself: a Python subclass may override that, so every call would have to look it up.
    cdef object step(self):
        cdef Py_ssize_t at = self._at, size
        if self._slots is None:  # `__init__` did not run, or a finalizer calls during collection
            raise TypeError("this walk has no slots")
        size = PyList_GET_SIZE(self._slots)
        if at >= size:
            at = 0
            if not size:
                raise TypeError("this walk has no slots")
        self._at = at + 1
        if at + AHEAD < size:
            prefetch(item(self._slots, at + AHEAD))
        return <object> item(self._slots, at)
