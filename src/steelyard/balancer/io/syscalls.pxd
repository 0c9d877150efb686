cimport cython

from libc.stdint cimport uint32_t, uint64_t

cdef extern from "<sys/epoll.h>" nogil:
    ctypedef union epoll_data_t:
        int fd
        uint64_t u64
    # The struct is packed on x86-64; the generated code uses the C header's definition.
    cdef struct epoll_event:
        uint32_t events
        epoll_data_t data

cpdef double monotonic() noexcept
cpdef long long wall_second() noexcept
cpdef Py_ssize_t receive(int fd, bytearray buffer) noexcept
cpdef bint is_quiet(int fd) noexcept
cpdef Py_ssize_t transmit(int fd, data) except -3
cpdef Py_ssize_t transmit_both(int fd, bytes first, second) except -3

@cython.final
cdef class Pipe:
    cdef int _ends[2]
    cdef readonly bint works
    cpdef Py_ssize_t fill(self, int fd, Py_ssize_t most) noexcept
    cpdef Py_ssize_t pour(self, int fd, Py_ssize_t count) noexcept
    cpdef close(self)
    cpdef Py_ssize_t spill(self, bytearray buffer) noexcept

@cython.final
cdef class Poller:
    cdef int _epoll
    cdef epoll_event* _events
    cdef int _control(self, int operation, int fd, unsigned int mask) except -1
    cpdef int add(self, int fd, unsigned int mask) except -1
    cpdef int change(self, int fd, unsigned int mask) except -1
    cpdef int remove(self, int fd) except -1
    cpdef int wait(self, double seconds) except -1
    cpdef int fd(self, int index) noexcept
    cpdef unsigned int mask(self, int index) noexcept
    cpdef close(self)
