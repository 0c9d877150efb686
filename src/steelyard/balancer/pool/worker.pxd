cimport cython

from steelyard.balancer.io.stream cimport Stream
from steelyard.balancer.pool.counters cimport Tally
from steelyard.balancer.pool.ejection cimport Record

cdef class Connection(Stream):
    cpdef bint quiet(self)

@cython.final
cdef class Member(Tally):
    cdef readonly Worker worker

@cython.final
cdef class Worker:
    cdef object __weakref__
    cdef readonly object address
    cdef readonly object family
    cdef public object guard
    cdef Py_ssize_t _ended
    cdef list _idle
    cdef Py_ssize_t _kept
    cdef readonly str name
    cdef readonly Record record
    cdef public bint serving
    cdef readonly Member tally
    cpdef keep(self, Connection connection)
    @cython.locals(connection=Connection)
    cpdef take(self, bint careful)
    cpdef lost(self)
    cpdef leave(self)
