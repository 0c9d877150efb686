cimport cython

from steelyard.balancer.pool.retry_budget cimport RetryBudget
from steelyard.balancer.pool.counters cimport Tally
from steelyard.balancer.http.date cimport Date
from steelyard.balancer.pool.attempts cimport Attempts
from steelyard.balancer.exchange.exchange cimport Exchange
from steelyard.balancer.pool.latency cimport by_pace
from steelyard.balancer.http.grammar cimport Reader
from steelyard.balancer.pool.limits cimport Limits
from steelyard.balancer.io.loop cimport Loop
from steelyard.balancer.http.origin cimport Manner
from steelyard.balancer.pool.table cimport Table
from steelyard.balancer.pool.worker cimport Worker

@cython.final
cdef class Plane:
    cdef double _end
    cdef list _listeners
    cdef Table _offered
    cdef bint _replaced
    cdef int _stops
    cdef object _waker
    cdef readonly object bell
    cdef readonly RetryBudget budget
    cdef readonly set clients
    cdef readonly object crowd
    cdef readonly Date date
    cdef readonly Attempts dial
    cdef public bint draining
    cdef readonly object ejector
    cdef readonly object gauge
    cdef readonly bint greeted
    cdef public object identity
    cdef readonly object access_log
    cdef readonly bint keyed
    cdef readonly Limits limits
    cdef readonly object line
    cdef readonly Loop loop
    cdef readonly Manner manner
    cdef readonly object overdue
    cdef readonly dict own
    cdef readonly bint paced
    cdef readonly double patience
    cdef readonly Reader reader
    cdef public long long refused
    cdef readonly Py_ssize_t room
    cdef readonly bytes scheme
    cdef readonly object settings
    cdef readonly object sticky
    cdef public Table table
    cdef public long long unshaken
    cdef readonly double waiting_since
    @cython.locals(known=double)
    cpdef measured(self, Tally tally, double seconds, int line)
    cpdef struck(self, Worker worker)
    cpdef redeemed(self, Worker worker)
    cpdef bint stand_in_line(self, Exchange exchange, double since)
    cpdef client_left(self, client)
