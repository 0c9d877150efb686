cimport cython

from steelyard.balancer.pool.worker cimport Member

@cython.final
cdef class Choice:
    cdef readonly Member only
    cdef readonly object pick
    cdef readonly object ring

@cython.final
cdef class Table:
    cdef readonly Choice choice
    cdef readonly object closing
    cdef readonly object ended
    cdef readonly str epoch
    cdef readonly object serving
    cdef readonly long long version
