cimport cython

from steelyard.balancer.syscalls cimport Poller, monotonic

cdef double inf

cdef class Handler:
    cdef public double deadline
    cpdef void on_event(self, int mask)
    cpdef void expire(self)
    cpdef void abort(self)

cdef class Loop:
    cdef list _graveyard
    cdef list _handlers
    cdef Poller _poller
    cdef double _sweep_every
    cdef readonly bytearray buffer
    cdef readonly object view
    cdef public double now
    cdef public bint running
    cdef public object chore
    cpdef void add(self, int fd, Handler handler, int mask)
    cpdef void replace(self, int fd, Handler handler)
    cpdef void watch(self, int fd, int mask)
    cpdef void park(self, int fd)
    cpdef void unpark(self, int fd, int mask)
    cpdef void drop(self, int fd, sock)
    cpdef void forget(self, int fd)
    cpdef bytes taken(self, Py_ssize_t count)
    @cython.locals(poller=Poller, index=int, handler=Handler)
    cdef void _dispatch(self, int count)
