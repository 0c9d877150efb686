cimport cython

from steelyard.balancer.io.octets cimport Alphabet, cut, decimal, matches, octet, run, text_end

cdef int CR, LF, COLON, SPACE, ZERO
cdef Py_ssize_t LONGEST
cdef Alphabet NAME
cdef bytes SHAPES
cdef dict KINDS
cdef int CODING, CONNECTION, DATE, HOST, LENGTH, PLAIN
cdef list KEEP_ALIVE, CLOSE

@cython.final
cdef class Lines:
    cdef bytes _data
    cdef Py_ssize_t _end
    cdef Py_ssize_t _left
    cdef readonly Py_ssize_t colon
    cdef readonly int kind
    cdef readonly Py_ssize_t start
    cdef readonly Py_ssize_t stop
    @cython.locals(
        data=bytes, at=Py_ssize_t, left=Py_ssize_t, start=Py_ssize_t, colon=Py_ssize_t,
        size=Py_ssize_t, text=cython.p_const_uchar, shapes=cython.p_const_uchar,
    )
    cpdef bint next(self) except -1
    cpdef bytes value(self)
    cpdef bytes line(self)
    cpdef begin(self, bytes data, Py_ssize_t at, Py_ssize_t end, Py_ssize_t most)

@cython.locals(size=Py_ssize_t, name=bytes)
cdef int _kind(bytes data, Py_ssize_t start, Py_ssize_t end) except -1
cpdef int classify(bytes name) except -1
@cython.locals(length=cython.longlong)
cpdef long long content_length(bytes data, Py_ssize_t start, Py_ssize_t end, long long before) except -1
cpdef bint has_zeros(bytes data, Py_ssize_t start, Py_ssize_t end) except -1
@cython.locals(size=Py_ssize_t)
cpdef list usual_options(bytes data, Py_ssize_t start, Py_ssize_t end)
cpdef list connection_options(bytes value, list before)
cpdef list upgrade_offer(bytes value, list before)
cpdef bytes without(bytes text, list names)
