cimport cython

from steelyard.balancer.grammar cimport AnswerHead, RequestHead
from steelyard.balancer.octets cimport joined
from steelyard.balancer.origin cimport Origin

cpdef bytes request_start(RequestHead head, Origin origin)
cpdef bytes answer_start(AnswerHead head, bint chunked, bint keep, RequestHead request)
