"""System calls of the hot path, compiled; `syscalls.py` says what each does."""

from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_GET_SIZE
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.exc cimport PyErr_CheckSignals
from libc.errno cimport EAGAIN, EINTR, EINVAL, ENOSYS, EPERM, errno
from libc.math cimport ceil
from libc.stdlib cimport free, malloc
from libc.string cimport memset
from libc.time cimport time
from posix.time cimport CLOCK_MONOTONIC, clock_gettime, timespec
from posix.unistd cimport close as close_fd

import os

cdef extern from *:
    """
    #include <sys/socket.h>
    #include <sys/syscall.h>
    #include <unistd.h>
    /* In a process with threads, recv and send of the C library check for a thread cancellation
       before and after the call, with a locked instruction each. No thread is ever cancelled. */
    #define steelyard_recv(fd, buffer, size, flags) \
        syscall(SYS_recvfrom, fd, buffer, size, flags, NULL, NULL)
    #define steelyard_send(fd, data, size, flags) \
        syscall(SYS_sendto, fd, data, size, flags, NULL, 0)
    """
    Py_ssize_t c_recv "steelyard_recv"(int fd, void* buffer, size_t size, int flags)
    Py_ssize_t c_send "steelyard_send"(int fd, const void* data, size_t size, int flags)

cdef extern from "<sys/socket.h>" nogil:
    Py_ssize_t c_sendmsg "sendmsg"(int fd, const msghdr* message, int flags)
    int MSG_NOSIGNAL, MSG_PEEK
    cdef struct iovec:
        void* iov_base
        size_t iov_len
    cdef struct msghdr:
        iovec* msg_iov
        size_t msg_iovlen

cdef extern from "<sys/epoll.h>" nogil:
    int EPOLL_CLOEXEC, EPOLL_CTL_ADD, EPOLL_CTL_DEL, EPOLL_CTL_MOD
    int epoll_create1(int flags)
    int epoll_ctl(int epoll, int operation, int fd, epoll_event* event)
    int epoll_wait(int epoll, epoll_event* events, int most, int milliseconds)

cdef extern from "<fcntl.h>" nogil:
    int F_SETPIPE_SZ, O_CLOEXEC, O_NONBLOCK
    unsigned int SPLICE_F_MOVE, SPLICE_F_NONBLOCK
    int fcntl(int fd, int command, int value)
    Py_ssize_t splice(
        int source, void* at, int sink, void* sink_at, size_t size, unsigned int flags
    )

cdef extern from "<unistd.h>" nogil:
    int pipe2(int* ends, int flags)
    Py_ssize_t read(int fd, void* buffer, size_t size)

GONE = -1
NOTHING = -2

cdef enum:
    BATCH = 512
    PIPE = 1024 * 1024


cpdef long long wall_second() noexcept:
    return time(NULL)


cpdef double monotonic() noexcept:
    cdef timespec now
    clock_gettime(CLOCK_MONOTONIC, &now)
    return now.tv_sec + 1e-9 * now.tv_nsec


# These functions keep the interpreter lock, because they never wait on a non-blocking socket.

cpdef Py_ssize_t receive(int fd, bytearray buffer) noexcept:
    cdef Py_ssize_t count
    while True:
        count = c_recv(fd, PyByteArray_AS_STRING(buffer), PyByteArray_GET_SIZE(buffer), 0)
        if count >= 0:
            return count
        if errno != EINTR:
            return -2 if errno == EAGAIN else -1


cpdef bint is_quiet(int fd) noexcept:
    cdef char one
    return c_recv(fd, &one, 1, MSG_PEEK) < 0 and errno == EAGAIN


cpdef Py_ssize_t transmit(int fd, data) except -3:
    cdef Py_buffer view
    cdef Py_ssize_t count
    if type(data) is bytes:
        return _send(fd, PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data))
    PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
    count = _send(fd, view.buf, view.len)
    PyBuffer_Release(&view)
    return count


cdef Py_ssize_t _send(int fd, const void* data, Py_ssize_t size) noexcept:
    cdef Py_ssize_t count
    while True:
        count = c_send(fd, data, size, MSG_NOSIGNAL)
        if count >= 0:
            return count
        if errno != EINTR:
            return 0 if errno == EAGAIN else -1


cpdef Py_ssize_t transmit_both(int fd, bytes first, second) except -3:
    cdef Py_buffer view
    cdef iovec[2] parts
    cdef msghdr message
    cdef Py_ssize_t count
    PyObject_GetBuffer(second, &view, PyBUF_SIMPLE)
    parts[0].iov_base = PyBytes_AS_STRING(first)
    parts[0].iov_len = PyBytes_GET_SIZE(first)
    parts[1].iov_base = view.buf
    parts[1].iov_len = view.len
    memset(&message, 0, sizeof(message))
    message.msg_iov = parts
    message.msg_iovlen = 2
    while True:
        count = c_sendmsg(fd, &message, MSG_NOSIGNAL)
        if count >= 0 or errno != EINTR:
            break
    PyBuffer_Release(&view)
    if count >= 0:
        return count
    return 0 if errno == EAGAIN else -1


cdef class Pipe:
    """What large bodies go through from socket to socket."""

    def __cinit__(self):
        self._ends[0] = self._ends[1] = -1
        self.works = True

    def __init__(self):
        if pipe2(self._ends, O_NONBLOCK | O_CLOEXEC) < 0:
            raise _error()
        fcntl(self._ends[1], F_SETPIPE_SZ, PIPE)

    def __dealloc__(self):
        self.close()

    cpdef Py_ssize_t fill(self, int fd, Py_ssize_t most) noexcept:
        cdef Py_ssize_t count = _splice(fd, self._ends[1], most)
        if count >= 0:
            return count
        if errno == EAGAIN:
            return -2
        self.works = errno != EINVAL and errno != ENOSYS and errno != EPERM
        return -1 if self.works else -2

    cpdef Py_ssize_t pour(self, int fd, Py_ssize_t count) noexcept:
        count = _splice(self._ends[0], fd, count)
        if count < 0:
            return 0 if errno == EAGAIN else -1
        return count

    cpdef close(self):
        for end in range(2):
            if self._ends[end] >= 0:
                close_fd(self._ends[end])
                self._ends[end] = -1

    cpdef Py_ssize_t spill(self, bytearray buffer) noexcept:
        cdef Py_ssize_t count
        while True:
            count = read(
                self._ends[0], PyByteArray_AS_STRING(buffer), PyByteArray_GET_SIZE(buffer)
            )
            if count >= 0 or errno != EINTR:
                return count if count > 0 else 0


cdef Py_ssize_t _splice(int source, int sink, Py_ssize_t most) noexcept:
    cdef Py_ssize_t count
    while True:
        count = splice(source, NULL, sink, NULL, most, SPLICE_F_MOVE | SPLICE_F_NONBLOCK)
        if count >= 0 or errno != EINTR:
            return count


cdef class Poller:
    """A level-triggered epoll."""

    def __cinit__(self):
        self._epoll = -1
        self._events = <epoll_event*> malloc(BATCH * sizeof(epoll_event))
        if self._events == NULL:
            raise MemoryError

    def __init__(self):
        self._epoll = epoll_create1(EPOLL_CLOEXEC)
        if self._epoll < 0:
            raise _error()

    def __dealloc__(self):
        if self._epoll >= 0:
            close_fd(self._epoll)
        free(self._events)

    cpdef int add(self, int fd, unsigned int mask) except -1:
        return self._control(EPOLL_CTL_ADD, fd, mask)

    cpdef int change(self, int fd, unsigned int mask) except -1:
        return self._control(EPOLL_CTL_MOD, fd, mask)

    cpdef int remove(self, int fd) except -1:
        return self._control(EPOLL_CTL_DEL, fd, 0)

    cdef int _control(self, int operation, int fd, unsigned int mask) except -1:
        cdef epoll_event event
        event.events = mask
        event.data.u64 = 0
        event.data.fd = fd
        if epoll_ctl(self._epoll, operation, fd, &event) < 0:
            raise _error()
        return 0

    cpdef int wait(self, double seconds) except -1:
        cdef int count
        cdef int milliseconds = <int> ceil(seconds * 1000)
        with nogil:
            count = epoll_wait(self._epoll, self._events, BATCH, milliseconds)
        if count < 0 and errno != EINTR:
            raise _error()
        PyErr_CheckSignals()  # compiled code may never reach the interpreter's own check
        return 0 if count < 0 else count

    cpdef int fd(self, int index) noexcept:
        return self._events[index].data.fd

    cpdef unsigned int mask(self, int index) noexcept:
        return self._events[index].events

    cpdef close(self):
        if self._epoll >= 0:
            close_fd(self._epoll)
            self._epoll = -1


cdef _error():
    return OSError(errno, os.strerror(errno))
