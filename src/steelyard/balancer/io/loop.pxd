cimport cython

from steelyard.balancer.io.octets cimport front
from steelyard.balancer.io.syscalls cimport Pipe, Poller, monotonic

cdef double inf

cdef class Handler:
    cdef public double deadline
    cpdef on_event(self, int mask)
    cpdef expire(self)
    cpdef abort(self)

@cython.final
cdef class Loop:
    cdef list _graveyard
    cdef list _handlers
    cdef Poller _poller
    cdef double _sweep_every
    cdef readonly bytearray buffer
    cdef readonly object view
    cdef readonly Pipe pipe
    cdef public double now
    cdef public bint running
    cdef public object chore
    cpdef add(self, int fd, Handler handler, int mask)
    cpdef replace(self, int fd, Handler handler)
    cpdef watch(self, int fd, int mask)
    cpdef park(self, int fd)
    cpdef unpark(self, int fd, int mask)
    cpdef drop(self, int fd, sock)
    cpdef forget(self, int fd)
    cpdef bytes taken(self, Py_ssize_t count)
    @cython.locals(poller=Poller, at=int, index=int, handler=Handler)
    cdef _dispatch(self, int count)
