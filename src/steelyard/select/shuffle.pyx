"""Shuffle, compiled; `shuffle.py` says what it does."""

from cpython.bytes cimport PyBytes_AS_STRING
from cpython.list cimport PyList_GET_SIZE
from cpython.ref cimport PyObject

cdef extern from "Python.h":
    ctypedef struct _List "PyListObject":
        PyObject** items "ob_item"


cpdef shuffle(list slots, rng):
    """Bring the slots into a random order, in place. The interpreter lock is held. No reference is
    counted, as an object that changes its place stays in the list."""
    cdef bytes drawn = rng.randbytes(4 * len(slots))
    cdef unsigned int* numbers = <unsigned int*> PyBytes_AS_STRING(drawn)
    cdef unsigned long long left = PyList_GET_SIZE(slots), place
    cdef PyObject** items
    cdef PyObject* last
    if len(drawn) != 4 * <Py_ssize_t> left:  # `rng` may be Python code, and let other threads run
        raise RuntimeError("the slots changed while they were shuffled")
    items = (<_List*> slots).items
    while left:
        place = numbers[0] * left >> 32
        numbers += 1
        left -= 1
        last = items[left]
        items[left] = items[place]
        items[place] = last
