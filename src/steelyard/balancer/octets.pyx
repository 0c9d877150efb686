"""Octets, compiled; `octets.py` says what each does. Positions are the caller's to keep in range."""

from cpython.bytearray cimport PyByteArray_AS_STRING
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.string cimport memchr, memcmp, memcpy

cdef extern from "<string.h>" nogil:
    void* memmem(const void* data, size_t size, const void* wanted, size_t wanted_size)


cdef class Alphabet:
    """A set of octets."""

    def __init__(self, bytes members):
        cdef unsigned char member
        self.members = members
        for member in members:
            self._table[member] = 1


cpdef int octet(bytes data, Py_ssize_t at) noexcept:
    return (<unsigned char*> PyBytes_AS_STRING(data))[at]


cpdef Py_ssize_t find(bytes data, int wanted, Py_ssize_t start, Py_ssize_t end) noexcept:
    cdef char* text = PyBytes_AS_STRING(data)
    cdef char* found
    if start >= end:
        return -1
    found = <char*> memchr(text + start, wanted, end - start)
    return -1 if found == NULL else found - text


cpdef Py_ssize_t seek(bytes data, bytes wanted, Py_ssize_t start) noexcept:
    cdef char* text = PyBytes_AS_STRING(data)
    cdef Py_ssize_t size = PyBytes_GET_SIZE(data)
    cdef char* found
    if start >= size:
        return -1
    found = <char*> memmem(
        text + start, size - start, PyBytes_AS_STRING(wanted), PyBytes_GET_SIZE(wanted)
    )
    return -1 if found == NULL else found - text


cpdef bint spans(bytes data, Py_ssize_t start, Py_ssize_t end, Alphabet alphabet) noexcept:
    cdef unsigned char* text = <unsigned char*> PyBytes_AS_STRING(data)
    cdef unsigned char* table = alphabet._table
    cdef Py_ssize_t at
    for at in range(start, end):
        if not table[text[at]]:
            return False
    return True


cpdef bint matches(bytes data, Py_ssize_t start, Py_ssize_t end, bytes wanted) noexcept:
    cdef Py_ssize_t size = PyBytes_GET_SIZE(wanted)
    return end - start == size and not memcmp(
        PyBytes_AS_STRING(data) + start, PyBytes_AS_STRING(wanted), size
    )


cpdef Py_ssize_t breaks(bytes data) noexcept:
    # No branch within the loop, so that the compiler looks at sixteen octets at once.
    cdef const unsigned char* text = <const unsigned char*> PyBytes_AS_STRING(data)
    cdef Py_ssize_t at, count = 0
    cdef unsigned char one, bad = 0
    for at in range(PyBytes_GET_SIZE(data)):
        one = text[at]
        count += one == 10
        bad |= ((one < 32) & (one != 9) & (one != 10) & (one != 13)) | (one == 127)
    return -1 if bad else count


cpdef bytes joined(tuple parts):
    cdef Py_ssize_t size = 0
    cdef bytes part, out
    cdef char* to
    for part in parts:
        size += PyBytes_GET_SIZE(part)
    out = PyBytes_FromStringAndSize(NULL, size)
    to = PyBytes_AS_STRING(out)
    for part in parts:
        size = PyBytes_GET_SIZE(part)
        memcpy(to, PyBytes_AS_STRING(part), size)
        to += size
    return out


cpdef bytes cut(bytes data, Py_ssize_t start, Py_ssize_t end):
    return PyBytes_FromStringAndSize(PyBytes_AS_STRING(data) + start, end - start)


cpdef long long decimal(bytes data, Py_ssize_t start, Py_ssize_t end) noexcept:
    cdef char* text = PyBytes_AS_STRING(data)
    cdef long long number = 0
    cdef Py_ssize_t at
    if end <= start or end - start > 18:
        return -1
    for at in range(start, end):
        if not c"0" <= text[at] <= c"9":
            return -1
        number = 10 * number + (text[at] - c"0")
    return number


cpdef bytes front(bytearray buffer, Py_ssize_t size):
    return PyBytes_FromStringAndSize(PyByteArray_AS_STRING(buffer), size)


cpdef bytes numbered(bytes prefix, unsigned long long number):
    cdef char[17] digits
    cdef int at = 17
    cdef Py_ssize_t size = PyBytes_GET_SIZE(prefix)
    cdef bytes out
    while number or at == 17:
        at -= 1
        digits[at] = b"0123456789abcdef"[number & 15]
        number >>= 4
    at -= 1
    digits[at] = c"-"
    out = PyBytes_FromStringAndSize(NULL, size + 17 - at)
    memcpy(PyBytes_AS_STRING(out), PyBytes_AS_STRING(prefix), size)
    memcpy(PyBytes_AS_STRING(out) + size, &digits[at], 17 - at)
    return out
