cimport cython

from steelyard.balancer.http.date cimport Date
from steelyard.balancer.http.grammar cimport Reader
from steelyard.balancer.io.loop cimport Loop
from steelyard.balancer.pool.attempts cimport Attempts
from steelyard.balancer.pool.limits cimport Limits
from steelyard.balancer.pool.pool cimport Pool

cdef class Shared:
    cdef readonly object access_log
    cdef readonly Attempts attempts
    cdef readonly Date date
    cdef public bint draining
    cdef readonly Limits limits
    cdef readonly Loop loop
    cdef readonly Pool pool
    cdef readonly Reader reader
    cdef readonly double tunnel_idle
