cimport cython

from steelyard.balancer.fields cimport (
    Lines,
    connection_options,
    content_length,
    has_zeros,
    usual_options,
    walk,
    without,
)
from steelyard.balancer.octets cimport Alphabet, cut, empty_line, extended, matches, octet, run, spans, text_end

cdef int CODING, CONNECTION, EXPECT, FORWARDED_FOR, HOST, LENGTH, PLAIN, REQUEST_ID, UPGRADE
cdef int CR, SPACE, COLON, SLASH, ONE
cdef list KEEP_ALIVE
cdef bytes GET, POST
cdef Alphabet NAME, TARGET, PLAIN_HOST, DIGITS
cdef object _METHODS

cdef class RequestHead:
    cdef public bint chunked
    cdef public list claims
    cdef public bytes host
    cdef readonly bint http11
    cdef public bint keep
    cdef public long long length
    cdef readonly bytes method
    cdef public object pin
    cdef public bytes request_id
    cdef public bytes text
    cdef public list upgrade
    cpdef begin(self, bytes method, bint http11)

cdef class AnswerHead:
    cdef public bint chunked
    cdef public bint keep
    cdef public long long length
    cdef readonly int status
    cdef public bytes text
    cdef public list upgrade
    cpdef begin(self, int status, bint http11)

cpdef bytes skip_empty_lines(bytes data)
@cython.locals(end=Py_ssize_t)
cpdef Py_ssize_t find_end(bytes data, Py_ssize_t seen, Py_ssize_t limit) except -2
@cython.locals(
    stop=Py_ssize_t, space=Py_ssize_t, last=Py_ssize_t, method=bytes, http11=bint, head=RequestHead
)
cpdef RequestHead parse_request(
    bytes data, Py_ssize_t end, Py_ssize_t most_fields, bint tls=*, bytes known_host=*
)
@cython.locals(stop=Py_ssize_t, status=int, head=AnswerHead, lines=Lines)
cpdef AnswerHead parse_answer(bytes data, Py_ssize_t end, Py_ssize_t most_fields)
@cython.locals(status=int)
cdef int _status(bytes data, Py_ssize_t stop) except -1
@cython.locals(method=bytes)
cdef bytes _method(bytes data, Py_ssize_t end)
@cython.locals(named=list, kept=Py_ssize_t, kind=int)
cdef _request_fields(RequestHead head, bytes data, Lines lines, bytes known_host)
@cython.locals(usual=list)
cdef list _options(bytes data, Lines lines, list before)
@cython.locals(named=list, kept=Py_ssize_t, kind=int)
cdef _answer_fields(AnswerHead head, bytes data, Lines lines)
cdef _host(RequestHead head, bytes data, Py_ssize_t start, Py_ssize_t stop, bytes known)
@cython.locals(value=bytes)
cdef bytes _authority(bytes data, Py_ssize_t start, Py_ssize_t stop)
@cython.locals(end=Py_ssize_t)
cdef bint _is_plain_host(bytes data, Py_ssize_t start, Py_ssize_t stop) except -1
