cimport cython

from steelyard.balancer.http.heads cimport RequestHead
from steelyard.balancer.io.octets cimport Alphabet, cut, matches, octet, spans, text_end

cdef int SPACE
cdef bytes GET, POST
cdef Alphabet DIGITS

@cython.locals(method=bytes)
cpdef bytes method_of(bytes data, Py_ssize_t end)
@cython.locals(status=int)
cpdef int status_of(bytes data, Py_ssize_t stop) except -1
cpdef other_target(RequestHead head, bint tls)
