cimport cython

from steelyard.balancer.io.syscalls cimport wall_second

cdef class Date:
    cdef bytes _line
    cdef long long _second
    @cython.locals(second=cython.longlong)
    cpdef bytes line(self)
