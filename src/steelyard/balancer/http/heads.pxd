cimport cython

from steelyard.balancer.io.octets cimport cut

cdef Py_ssize_t SLACK

cpdef bytes kept(bytes data, Py_ssize_t size)

@cython.final
cdef class RequestHead:
    cdef public bint chunked
    cdef public list claims
    cdef readonly bytes data
    cdef public long long hops
    cdef public bytes host
    cdef readonly bint http11
    cdef public bint keep
    cdef public long long length
    cdef readonly bytes method
    cdef public bytes request_id
    cdef public bytes session
    cdef readonly Py_ssize_t size
    cdef public list upgrade
    cpdef begin(self, bytes method, bint http11)
    cpdef front(self, bytes data, Py_ssize_t size)
    cpdef rewrite(self, bytes text)

@cython.final
cdef class AnswerHead:
    cdef public bint chunked
    cdef readonly bytes data
    cdef public bint dated
    cdef public bint keep
    cdef public long long length
    cdef readonly Py_ssize_t size
    cdef readonly int status
    cdef public list upgrade
    cpdef begin(self, int status, bint http11)
    cpdef front(self, bytes data, Py_ssize_t size)
    cpdef rewrite(self, bytes text)
