cimport cython

from steelyard.balancer.counters cimport Lease
from steelyard.balancer.exchange cimport Exchange
from steelyard.balancer.stream cimport Stream
from steelyard.balancer.worker cimport Worker

cdef int BROKEN, IN, OUT

cdef class Upstream(Stream):
    cdef readonly bint connecting
    cdef public Exchange exchange
    cdef readonly int line
    cdef readonly long long mark
    cdef readonly bint reused
    cdef readonly Worker worker
    cdef Lease _lease
    cpdef void on_event(self, int mask)
    cpdef void expire(self)
    cpdef void abort(self)
    cpdef void lend(self, Exchange exchange)
    cpdef void give_back(self, double until)
    cpdef void give_up(self)
    cpdef void drop(self, bint failed)
    cpdef bint quiet(self)
    @cython.locals(exchange=Exchange)
    cdef void _connected(self)
    @cython.locals(count=Py_ssize_t, exchange=Exchange)
    cdef void _read(self)
    cdef void _broken(self)
