cimport cython

from steelyard.balancer.octets cimport Alphabet, cut, find, matches, octet, spans

cdef int CR, COLON
cdef Py_ssize_t LONGEST
cdef Alphabet NAME, VALUE
cdef bytes SHAPES
cdef dict KINDS

@cython.freelist(8)
cdef class Lines:
    cdef Py_ssize_t _at
    cdef bytes _data
    cdef Py_ssize_t _end
    cdef Py_ssize_t _left
    cdef readonly Py_ssize_t colon
    cdef readonly int kind
    cdef readonly Py_ssize_t start
    cdef readonly Py_ssize_t stop
    @cython.locals(
        data=bytes, at=Py_ssize_t, end=Py_ssize_t, start=Py_ssize_t, stop=Py_ssize_t,
        colon=Py_ssize_t,
    )
    cpdef bint next(self)
    cpdef bytes value(self)

@cython.locals(size=Py_ssize_t, name=bytes)
cdef int _kind(bytes data, Py_ssize_t start, Py_ssize_t end) except -1
cpdef int classify(bytes name) except -1
cpdef long long content_length(bytes value, long long before) except -1
cpdef bint has_zeros(bytes value, long long length)
cpdef list connection_options(bytes value, list before)
cpdef list upgrade_offer(bytes value, list before)
cpdef bytes without(bytes fields, list names)
