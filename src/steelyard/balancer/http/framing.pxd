cimport cython

cdef class Body:
    cdef public bint done
    cdef public object rest
    cpdef feed(self, data)
    cpdef list trailers(self)

cdef class LengthBody(Body):
    cdef readonly long long left
    cpdef begin(self, long long length)
    cpdef passed(self, long long size)
    @cython.locals(size=Py_ssize_t)
    cpdef feed(self, data)

@cython.locals(body=LengthBody)
cpdef LengthBody length_body(long long length)

cdef class EndlessBody(Body):
    cpdef feed(self, data)

cdef class ChunkedBody(Body):
    cdef long long _left
    cdef long long _limit
    cdef bytes _line
    cdef list _lines
    cdef int _state
    cdef long long _total
    @cython.locals(raw=bytes, pieces=list, at=Py_ssize_t, after=Py_ssize_t, state=int)
    cpdef feed(self, data)
    cpdef list trailers(self)
    cdef Py_ssize_t _size(self, bytes raw, Py_ssize_t at) except -2
    cdef Py_ssize_t _data(self, bytes raw, Py_ssize_t at, list pieces) except -2
    cdef Py_ssize_t _after(self, bytes raw, Py_ssize_t at) except -2
    cdef Py_ssize_t _trailer(self, bytes raw, Py_ssize_t at) except -2
