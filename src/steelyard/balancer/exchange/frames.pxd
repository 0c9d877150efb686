cimport cython

cdef dict EXTENDED
cdef int CLOSE, MASKED

@cython.final
cdef class Frames:
    cdef bytearray _header
    cdef long long _left
    cdef Py_ssize_t _need
    cdef readonly bint closed
    cdef readonly bint lost
    @cython.locals(at=Py_ssize_t, size=Py_ssize_t)
    cpdef feed(self, data)
    @cython.locals(size=Py_ssize_t, taken=Py_ssize_t)
    cpdef Py_ssize_t step(self, data, Py_ssize_t at) except -1
    @cython.locals(header=bytearray, more=Py_ssize_t, whole=Py_ssize_t)
    cdef bint _complete(self) except -1
