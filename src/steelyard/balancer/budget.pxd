cdef class Budget:
    cdef tuple _before
    cdef double _began
    cdef double _retries
    cdef double _share
    cdef public double requests
    cpdef bint spend(self, double now)
    cdef void _roll(self, double now)
