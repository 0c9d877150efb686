cimport cython

from steelyard.balancer.http.heads cimport RequestHead
from steelyard.balancer.io.octets cimport numbered

cdef class Manner:
    cdef long long _count
    cdef list _networks
    cdef bytes _prefix
    cdef readonly bint rfc7239
    cdef readonly bint x_forwarded
    cpdef Origin origin(self, str peer, bytes scheme)
    cpdef bytes next_id(self)

@cython.final
cdef class Origin:
    cdef bytes _ending
    cdef Manner _manner
    cdef bytes _usual
    cdef readonly bytes host
    cdef public bytes local
    cdef readonly bytes peer
    cdef readonly bytes scheme
    cdef readonly bint trusted
    @cython.locals(ending=bytes)
    cpdef bytes ending(self, RequestHead head)
    @cython.locals(host=bytes)
    cpdef bytes lines(self, RequestHead head)
    cpdef bytes request_id(self, RequestHead head)
    cpdef bint secure(self, RequestHead head)
    cdef list _all(self, RequestHead head, bytes host)
