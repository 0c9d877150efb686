cimport cython

@cython.final
cdef class Record:
    cdef public double backoff
    cdef public int strikes
    cdef public bint trial
    cdef public double until
