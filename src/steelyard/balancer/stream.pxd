cimport cython

from steelyard.balancer.loop cimport Handler, Loop
from steelyard.balancer.syscalls cimport receive, transmit

cdef double inf
cdef int IN, OUT

cdef class Stream(Handler):
    cdef readonly Loop loop
    cdef readonly object sock
    cdef readonly int fd
    cdef readonly int mask
    cdef readonly bytearray pending
    cdef readonly long long sent
    cdef readonly bint open
    cdef readonly bint parked
    cpdef Py_ssize_t receive(self)
    @cython.locals(count=Py_ssize_t, size=Py_ssize_t)
    cpdef bint send(self, data)
    @cython.locals(count=Py_ssize_t)
    cpdef bint flush(self)
    cpdef void pause(self)
    cpdef void resume(self)
    cpdef void watch(self, int mask)
    cpdef void park(self)
    cpdef void close(self)
    cpdef void reset(self)
