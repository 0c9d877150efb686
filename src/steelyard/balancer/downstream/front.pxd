cimport cython

from steelyard.balancer.exchange.shared cimport Shared
from steelyard.balancer.http.origin cimport Manner

@cython.final
cdef class Front(Shared):
    cdef readonly set clients
    cdef readonly object connection_limit
    cdef readonly list entrances
    cdef public object identity
    cdef readonly Manner manner
    cdef readonly dict own
    cdef public double patience
    cdef readonly bint proxy_protocol
    cdef readonly bytes scheme
    cdef readonly object settings
    cdef readonly object total_timeout
    cdef public long long unshaken
    cpdef left(self, client)
