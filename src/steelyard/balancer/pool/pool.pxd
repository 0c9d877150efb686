cimport cython

from steelyard.balancer.io.loop cimport Loop
from steelyard.balancer.pool.counters cimport Tally
from steelyard.balancer.pool.latency cimport by_pace
from steelyard.balancer.pool.limits cimport Limits
from steelyard.balancer.pool.requester cimport Requester
from steelyard.balancer.pool.retry_budget cimport RetryBudget
from steelyard.balancer.pool.table cimport Table
from steelyard.balancer.pool.worker cimport Worker

@cython.final
cdef class Pool:
    cdef double _waiting_time
    cdef readonly object bell
    cdef readonly RetryBudget budget
    cdef readonly object ejector
    cdef readonly object estimator
    cdef readonly bint keyed
    cdef readonly Limits limits
    cdef readonly Loop loop
    cdef readonly bint paced
    cdef public long long refused
    cdef readonly Py_ssize_t room
    cdef readonly object sticky
    cdef public Table table
    cdef readonly object waiting
    cdef readonly double waiting_since
    cpdef bint wait(self, Requester requester, double since)
    @cython.locals(known=double)
    cpdef measured(self, Tally tally, double seconds, int line)
    cpdef struck(self, Worker worker)
    cpdef redeemed(self, Worker worker)
