cimport cython

from steelyard.balancer.io.loop cimport Handler, Loop
from steelyard.balancer.io.syscalls cimport receive, transmit, transmit_both

cdef double inf
cdef int IN, OUT

cdef class Stream(Handler):
    cdef readonly Loop loop
    cdef readonly object sock
    cdef readonly int fd
    cdef readonly int mask
    cdef public bytearray pending
    cdef public long long sent
    cdef public object tls
    cdef readonly bint open
    cdef readonly bint parked
    cpdef Py_ssize_t receive(self)
    @cython.locals(count=Py_ssize_t, size=Py_ssize_t)
    cpdef bint send(self, data)
    @cython.locals(count=Py_ssize_t, size=Py_ssize_t)
    cpdef bint send_both(self, bytes first, second)
    @cython.locals(loop=Loop, sent=Py_ssize_t, left=Py_ssize_t)
    cpdef bint pour(self, Py_ssize_t count)
    @cython.locals(count=Py_ssize_t)
    cpdef bint flush(self)
    cpdef pause(self)
    cpdef resume(self)
    cpdef watch(self, int mask)
    cpdef park(self)
    cpdef close(self)
    cpdef reset(self)
