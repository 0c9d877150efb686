cimport cython

from steelyard.balancer.exchange cimport Exchange
from steelyard.balancer.forward cimport Forward
from steelyard.balancer.grammar cimport RequestHead, find_end, parse_request, skip_empty_lines
from steelyard.balancer.limits cimport Limits
from steelyard.balancer.octets cimport cut
from steelyard.balancer.origin cimport Origin
from steelyard.balancer.plane cimport Plane
from steelyard.balancer.stream cimport Stream

cdef double inf
cdef int BROKEN, IN, OUT
cdef int GREETING, SERVING, ENDING, TUNNELLING
cdef double LATECOMER, ASK_AFTER

cdef class Client(Stream):
    cdef Origin _origin
    cdef object _pace
    cdef int _phase
    cdef Plane _plane
    cdef Py_ssize_t _seen
    cdef bint _served
    cdef bint _turning
    cdef public bytes buffer
    cdef readonly bint eof
    cdef public Exchange exchange
    cpdef void on_event(self, int mask)
    @cython.locals(exchange=Exchange)
    cpdef void expire(self)
    @cython.locals(exchange=Exchange)
    cpdef void abort(self)
    @cython.locals(exchange=Exchange)
    cpdef void refuse(self, int status, str reason, bint keep, bint bodiless)
    @cython.locals(now=double, limit=double)
    cpdef void hurry(self)
    cpdef void finished(self, bint keep)
    cpdef bytes give_up(self)
    cpdef void cut(self, bint reset)
    @cython.locals(silence=double)
    cpdef void leave_if_idle(self)
    cpdef void close(self)
    @cython.locals(count=Py_ssize_t)
    cdef void _read(self)
    @cython.locals(exchange=Exchange)
    cdef void _take(self, Py_ssize_t count)
    @cython.locals(exchange=Exchange)
    cdef void _take_end(self)
    cdef void _half_closed(self, Exchange exchange)
    cdef void _ask(self, Exchange exchange)
    @cython.locals(exchange=Exchange)
    cdef bint _moves(self)
    cdef void _turn(self)
    @cython.locals(
        limits=Limits, data=bytes, end=Py_ssize_t, head=RequestHead, forward=Forward, exchange=Exchange
    )
    cdef bint _begin(self)
    @cython.locals(limit=double)
    cdef void _wait(self)
    cdef void _drain(self)
    cdef void _end(self)
    cdef void _note(self, int status, Py_ssize_t size)
    cdef void _linger(self)
