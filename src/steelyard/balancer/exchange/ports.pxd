cimport cython

from steelyard.balancer.http.heads cimport RequestHead
from steelyard.balancer.io.stream cimport Stream

cdef class Downstream(Stream):
    cdef public bytes buffer
    cdef readonly bint eof
    cpdef hurry(self)
    cpdef finished(self, bint keep)
    cpdef refuse(self, int status, str reason, bint keep, bint bodiless)
    cpdef answer_options(self, RequestHead head, bint keep)
    cpdef cut(self, bint reset)
    cpdef bytes give_up(self)
