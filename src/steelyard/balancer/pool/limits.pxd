cimport cython

@cython.final
cdef class Limits:
    cdef readonly double answer_timeout
    cdef readonly long long body
    cdef readonly double body_timeout
    cdef readonly double connect_timeout
    cdef readonly double head_timeout
    cdef readonly double idle_timeout
    cdef readonly int retries
    cdef readonly double upstream_idle
