cimport cython

@cython.final
cdef class Alphabet:
    cdef readonly bytes members
    cdef unsigned char _table[256]

cpdef int octet(bytes data, Py_ssize_t at) noexcept
cpdef Py_ssize_t find(bytes data, int wanted, Py_ssize_t start, Py_ssize_t end) noexcept
cpdef Py_ssize_t run(bytes data, Py_ssize_t start, Alphabet alphabet) noexcept
cpdef Py_ssize_t text_end(bytes data, Py_ssize_t start) noexcept
cpdef Py_ssize_t empty_line(bytes data, Py_ssize_t start) noexcept
cpdef bint spans(bytes data, Py_ssize_t start, Py_ssize_t end, Alphabet alphabet) noexcept
cpdef bint matches(bytes data, Py_ssize_t start, Py_ssize_t end, bytes wanted) noexcept
cpdef bytes joined(bytes text, Py_ssize_t size, bytes second, bytes third, bytes fourth, bytes fifth)
cpdef bytes cut(bytes data, Py_ssize_t start, Py_ssize_t end)
cpdef bytes extended(bytes text, bytes data, Py_ssize_t start, Py_ssize_t end)
cpdef long long decimal(bytes data, Py_ssize_t start, Py_ssize_t end) noexcept
cpdef bytes front(bytearray buffer, Py_ssize_t size)
cpdef bytes numbered(bytes prefix, unsigned long long number)
