cimport cython

from steelyard.balancer.date cimport Date
from steelyard.balancer.heads cimport AnswerHead, RequestHead
from steelyard.balancer.octets cimport joined
from steelyard.balancer.origin cimport Origin

cdef bytes END, VIA_11

cpdef bytes request_start(RequestHead head, Origin origin)
@cython.locals(more=bytes)
cpdef bytes answer_start(
    AnswerHead head, bint chunked, bint keep, RequestHead request, Date date, bytes body=*
)
