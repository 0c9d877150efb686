cimport cython

from steelyard.balancer.pool.counters cimport Tally
from steelyard.select.gauges cimport pace, trust

cdef double SURE

@cython.locals(guess=double, known=double, weight=double, between=double)
cpdef by_pace(Tally tally, double seconds, int line, double now)
