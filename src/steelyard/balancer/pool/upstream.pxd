cimport cython

from steelyard.balancer.pool.counters cimport Lease
from steelyard.balancer.io.syscalls cimport is_quiet
from steelyard.balancer.pool.requester cimport Requester
from steelyard.balancer.pool.worker cimport Connection, Worker

cdef int BROKEN, IN, OUT
cdef long long RECEIVE
cdef double MOMENT

cdef class Upstream(Connection):
    cdef readonly bint connecting
    cdef public Requester requester
    cdef readonly int line
    cdef readonly long long mark
    cdef readonly bint reused
    cdef readonly Worker worker
    cdef Lease _lease
    cdef double _rested
    cpdef on_event(self, int mask)
    cpdef expire(self)
    cpdef abort(self)
    cpdef lend(self, Requester requester)
    cpdef give_back(self, double until)
    cpdef give_up(self)
    cpdef drop(self, bint failed)
    cpdef bint quiet(self)
    @cython.locals(requester=Requester)
    cdef _connected(self)
    cdef bint _admitted(self)
    @cython.locals(count=Py_ssize_t, requester=Requester, flows=bint)
    cdef _read(self)
    cdef Py_ssize_t _fill(self, Requester requester)
    cdef _broken(self)
