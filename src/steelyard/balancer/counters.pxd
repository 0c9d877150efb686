cdef class Tally:
    cdef object _bell
    cdef public long long bytes
    cdef public double cost
    cdef public long long failures
    cdef readonly list histogram
    cdef public int inflight
    cdef public bint leaving
    cdef public long long requests
    cdef public double seconds
    cdef public double seen
    cdef readonly object worker
    cpdef void first_byte(self, double seconds)
    cpdef void failed_try(self)
    cpdef void enter(self)
    cpdef void leave(self, bint failed)

cdef class Lease:
    cdef Tally _tally
    cpdef void release(self, bint failed)
