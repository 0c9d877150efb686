"""Octets, compiled; `octets.py` says what each does. Positions are the caller's to keep in range."""

from cpython.bytearray cimport PyByteArray_AS_STRING
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.string cimport memchr, memcmp, memcpy

Buffer = bytes | memoryview

cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>
    /* These functions test a step of octets at once: one flags control characters (below 32, or
       127), the other CR. Only the lowest flag is exact. With SSE2, which every x86-64 has, a step
       is 16 octets; elsewhere it is a word ("Bit Twiddling Hacks", byte less than n in a word). */
    #ifdef __SSE2__
    #include <emmintrin.h>
    #define STEELYARD_STEP 16
    typedef unsigned steelyard_flags;
    static inline __m128i steelyard_load(const unsigned char *text) {
        return _mm_loadu_si128((const __m128i *) text);
    }
    static inline steelyard_flags steelyard_controls(const unsigned char *text) {
        __m128i step = steelyard_load(text);
        __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(step, _mm_set1_epi8(31)), step);
        __m128i deleted = _mm_cmpeq_epi8(step, _mm_set1_epi8(127));
        return (unsigned) _mm_movemask_epi8(_mm_or_si128(low, deleted));
    }
    static inline steelyard_flags steelyard_returns(const unsigned char *text) {
        __m128i step = steelyard_load(text);
        return (unsigned) _mm_movemask_epi8(_mm_cmpeq_epi8(step, _mm_set1_epi8(13)));
    }
    #define steelyard_first(flags) __builtin_ctz(flags)
    #else
    #define STEELYARD_STEP 8
    typedef uint64_t steelyard_flags;
    #define STEELYARD_ONES UINT64_C(0x0101010101010101)
    #define STEELYARD_HIGH UINT64_C(0x8080808080808080)
    static inline uint64_t steelyard_load(const unsigned char *text) {
        uint64_t word;
        memcpy(&word, text, sizeof word);
    #if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        word = __builtin_bswap64(word);
    #endif
        return word;
    }
    static inline steelyard_flags steelyard_below(uint64_t word, unsigned most) {
        return (word - STEELYARD_ONES * most) & ~word & STEELYARD_HIGH;
    }
    static inline steelyard_flags steelyard_controls(const unsigned char *text) {
        uint64_t word = steelyard_load(text);
        return steelyard_below(word, 32) | steelyard_below(word ^ STEELYARD_ONES * 127, 1);
    }
    static inline steelyard_flags steelyard_returns(const unsigned char *text) {
        return steelyard_below(steelyard_load(text) ^ STEELYARD_ONES * 13, 1);
    }
    #define steelyard_first(flags) (__builtin_ctzll(flags) >> 3)
    #endif
    """
    ctypedef unsigned long long Flags "steelyard_flags"
    enum: STEP "STEELYARD_STEP"
    Flags controls "steelyard_controls"(const unsigned char* text) nogil
    Flags returns "steelyard_returns"(const unsigned char* text) nogil
    int first "steelyard_first"(Flags flags) nogil


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
    while table[at[0]]:  # no alphabet contains the NUL behind the last octet
        at += 1
    return <char*> at - PyBytes_AS_STRING(data)


cpdef Py_ssize_t text_end(bytes data, Py_ssize_t start) noexcept:
    cdef const unsigned char* text = <const unsigned char*> PyBytes_AS_STRING(data)
    cdef Py_ssize_t at = start, size = PyBytes_GET_SIZE(data)
    cdef Flags flags
    while at + STEP <= size:
        flags = controls(text + at)
        if not flags:
            at += STEP
            continue
        at += first(flags)
        if text[at] != c"\t":
            return at
        at += 1
    while at < size and (text[at] >= 32 and text[at] != 127 or text[at] == c"\t"):
        at += 1
    return at


cpdef Py_ssize_t empty_line(bytes data, Py_ssize_t start) noexcept:
    cdef const unsigned char* text = <const unsigned char*> PyBytes_AS_STRING(data)
    cdef Py_ssize_t at = start, size = PyBytes_GET_SIZE(data)
    cdef Flags flags
    while at + STEP <= size:
        flags = returns(text + at)
        if not flags:
            at += STEP
            continue
        at += first(flags)
        if at + 4 > size:
            return -1
        if not memcmp(text + at, b"\r\n\r\n", 4):
            return at
        at += 1
    while at + 4 <= size:
        if not memcmp(text + at, b"\r\n\r\n", 4):
            return at
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


cpdef bytes joined(bytes text, Py_ssize_t size, bytes second, bytes third, bytes fourth, bytes fifth):
    cdef bytes out = PyBytes_FromStringAndSize(NULL, size + PyBytes_GET_SIZE(second)
        + PyBytes_GET_SIZE(third) + PyBytes_GET_SIZE(fourth) + PyBytes_GET_SIZE(fifth))
    cdef char* to = PyBytes_AS_STRING(out)
    memcpy(to, PyBytes_AS_STRING(text), size)
    to = _append(to + size, second)
    to = _append(to, third)
    to = _append(to, fourth)
    _append(to, fifth)
    return out


cdef inline char* _append(char* to, bytes part) noexcept:
    memcpy(to, PyBytes_AS_STRING(part), PyBytes_GET_SIZE(part))
    return to + PyBytes_GET_SIZE(part)


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
