cimport cython

cdef int LAST
cdef double FIRST, DOUBT, DEAREST

@cython.locals(index=int, bound=double)
cpdef int bucket(double seconds) except -1

cdef class Tally:
    cdef object _bell
    cdef public double cost
    cdef public double learned
    cdef public long long ejections
    cdef public long long failures
    cdef readonly list histogram
    cdef public int inflight
    cdef public bint leaving
    cdef public long long requests
    cdef public double seconds
    cdef public double seen
    cdef public long long sent
    cdef public long long received
    cdef readonly list statuses
    cdef public int tunnels
    cpdef first_byte(self, double seconds, int status)
    cpdef failed_try(self)
    cpdef enter(self)
    cpdef leave(self, bint failed)

@cython.final
cdef class Lease:
    cdef bint _held
    cdef Tally _tally
    cpdef take(self)
    cpdef release(self, bint failed)
