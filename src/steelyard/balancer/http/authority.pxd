cimport cython

from steelyard.balancer.io.octets cimport Alphabet, cut, octet, run, spans

cdef int COLON
cdef Alphabet PLAIN_HOST, DIGITS

@cython.locals(value=bytes)
cpdef bytes authority(bytes data, Py_ssize_t start, Py_ssize_t stop)
@cython.locals(end=Py_ssize_t)
cdef bint _is_plain(bytes data, Py_ssize_t start, Py_ssize_t stop) except -1
