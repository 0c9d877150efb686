cimport cython

from steelyard.balancer.http.date cimport Date
from steelyard.balancer.http.heads cimport AnswerHead, RequestHead
from steelyard.balancer.io.octets cimport joined
from steelyard.balancer.http.origin cimport Origin

cdef bytes END, VIA_11

cpdef bytes request_start(RequestHead head, Origin origin)
@cython.locals(more=bytes, special=bint)
cpdef bytes answer_start(
    AnswerHead head, bint chunked, bint keep, RequestHead request, Date date, bytes body=*
)
