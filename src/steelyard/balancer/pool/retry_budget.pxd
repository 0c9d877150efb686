cimport cython

@cython.final
cdef class RetryBudget:
    cdef tuple _before
    cdef double _began
    cdef double _retries
    cdef double _share
    cdef public double requests
    cdef readonly long long spent
    cpdef bint spend(self, double now)
    cdef _roll(self, double now)
