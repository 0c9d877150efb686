"""Octets, compiled; `octets.py` says what each does. Positions are the caller's to keep in range."""

from cpython.bytearray cimport PyByteArray_AS_STRING
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.stdint cimport uint64_t
from libc.string cimport memchr, memcmp, memcpy

cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>
    /* A flag in each octet of a word that is below 32 or is 127: exact for the first one, counted
       from the word's low end ("Bit Twiddling Hacks", words that have a byte less than n). */
    static inline uint64_t steelyard_controls(const unsigned char *text) {
        const uint64_t ones = UINT64_C(0x0101010101010101);
        uint64_t word, deleted;
        memcpy(&word, text, sizeof word);
    #if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        word = __builtin_bswap64(word);
    #endif
        deleted = word ^ ones * 127;
        return ((word - ones * 32) & ~word) | ((deleted - ones) & ~deleted);
    }
    #define steelyard_first(flags) (__builtin_ctzll(flags) >> 3)
    """
    uint64_t controls "steelyard_controls"(const unsigned char* text) nogil
    int first "steelyard_first"(uint64_t flags) nogil

cdef enum:
    WORD = 8


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


cpdef Py_ssize_t run(bytes data, Py_ssize_t start, Alphabet alphabet) noexcept:
    cdef const unsigned char* at = <const unsigned char*> PyBytes_AS_STRING(data) + start
    cdef const unsigned char* table = alphabet._table
    while table[at[0]]:  # NUL, behind the last one, is of no alphabet
        at += 1
    return <char*> at - PyBytes_AS_STRING(data)


cpdef Py_ssize_t text_end(bytes data, Py_ssize_t start) noexcept:
    cdef const unsigned char* text = <const unsigned char*> PyBytes_AS_STRING(data)
    cdef Py_ssize_t at = start, size = PyBytes_GET_SIZE(data)
    cdef uint64_t flags
    while at + WORD <= size:
        flags = controls(text + at) & <uint64_t> 0x8080808080808080
        if not flags:
            at += WORD
            continue
        at += first(flags)
        if text[at] != c"\t":
            return at
        at += 1
    while at < size and (text[at] >= 32 and text[at] != 127 or text[at] == c"\t"):
        at += 1
    return at


cpdef Py_ssize_t empty_line(bytes data, Py_ssize_t start) noexcept:
    cdef const char* text = PyBytes_AS_STRING(data)
    cdef const char* end = text + PyBytes_GET_SIZE(data) - 3
    cdef const char* at = text + start
    while at < end:
        at = <const char*> memchr(at, c"\r", end - at)
        if at == NULL:
            return -1
        if not memcmp(at, b"\r\n\r\n", 4):
            return at - text
        at += 1
    return -1


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


cpdef bytes extended(bytes text, bytes data, Py_ssize_t start, Py_ssize_t end):
    cdef Py_ssize_t size = PyBytes_GET_SIZE(text)
    cdef bytes out = PyBytes_FromStringAndSize(NULL, size + end - start)
    memcpy(PyBytes_AS_STRING(out), PyBytes_AS_STRING(text), size)
    memcpy(PyBytes_AS_STRING(out) + size, PyBytes_AS_STRING(data) + start, end - start)
    return out


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
