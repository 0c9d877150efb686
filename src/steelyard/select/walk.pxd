cdef class Walk:
    cdef Py_ssize_t _at
    cdef list _slots
    cdef object step(self)
