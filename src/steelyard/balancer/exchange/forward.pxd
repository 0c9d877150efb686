cimport cython

from steelyard.balancer.http.framing cimport Body, length_body
from steelyard.balancer.http.heads cimport RequestHead
from steelyard.balancer.http.rewriting cimport request_start
from steelyard.balancer.http.origin cimport Origin

cdef bytes GET

@cython.final
cdef class Forward:
    cdef readonly Body body
    cdef readonly bint done
    cdef readonly RequestHead head
    cdef readonly bint idempotent
    cdef readonly bytes held
    cdef readonly bytes replay
    cdef readonly object rest
    cpdef begin(self, RequestHead head, Origin origin, long long body_limit)
    @cython.locals(body=Body)
    cpdef feed(self, data)
    cpdef hold(self, data)
    cpdef sent(self, data)
    cpdef give_up(self)
    cpdef Py_ssize_t size(self)

cdef Body _body(RequestHead head, long long limit)
