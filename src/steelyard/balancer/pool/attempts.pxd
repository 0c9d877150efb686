cimport cython

from steelyard.balancer.pool.counters cimport Tally
from steelyard.balancer.exchange.exchange cimport Exchange
from steelyard.balancer.plane cimport Plane
from steelyard.balancer.pool.table cimport Choice
from steelyard.balancer.pool.upstream cimport Upstream
from steelyard.balancer.pool.worker cimport Worker

@cython.final
cdef class Attempts:
    cdef Plane _plane
    @cython.locals(worker=Worker, upstream=Upstream)
    cpdef Upstream first(self, Exchange exchange, bint careful)
    @cython.locals(worker=Worker, other=Worker)
    cpdef Upstream again(self, Exchange exchange, Upstream failed)
    @cython.locals(plane=Plane, upstream=Upstream)
    cdef Upstream _connect(self, Worker worker, Exchange exchange)
    @cython.locals(plane=Plane)
    cdef bint _another_try(self, Exchange exchange)
    @cython.locals(plane=Plane, choice=Choice, tally=Tally, worker=Worker, home=Worker)
    cdef Worker _choose(self, Exchange exchange)
    @cython.locals(home=Worker)
    cdef Worker _home(self, Exchange exchange)
    @cython.locals(choice=Choice, worker=Worker)
    cdef Worker _untried(self, Exchange exchange)
    @cython.locals(plane=Plane)
    cdef bint _fits(self, Exchange exchange, Worker worker)
