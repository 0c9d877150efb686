cimport cython

from steelyard.balancer.pool.pool cimport Pool
from steelyard.balancer.pool.requester cimport Requester
from steelyard.balancer.pool.table cimport Choice
from steelyard.balancer.pool.upstream cimport Upstream
from steelyard.balancer.pool.worker cimport Member, Worker

@cython.final
cdef class Attempts:
    cdef Pool _pool
    @cython.locals(worker=Worker, kept=Upstream)
    cpdef Upstream first(self, Requester requester, bint careful)
    @cython.locals(worker=Worker, other=Worker)
    cpdef Upstream again(self, Requester requester, Upstream failed)
    @cython.locals(pool=Pool, upstream=Upstream)
    cdef Upstream _connect(self, Worker worker, Requester requester)
    @cython.locals(pool=Pool)
    cdef bint _another_try(self, Requester requester)
    @cython.locals(pool=Pool, choice=Choice, tally=Member, worker=Worker, home=Worker)
    cdef Worker _choose(self, Requester requester)
    @cython.locals(home=Worker)
    cdef Worker _home(self, Requester requester)
    @cython.locals(choice=Choice, worker=Worker)
    cdef Worker _untried(self, Requester requester)
    @cython.locals(pool=Pool)
    cdef bint _fits(self, Requester requester, Worker worker)
