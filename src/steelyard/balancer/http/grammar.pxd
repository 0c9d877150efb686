cimport cython

from steelyard.balancer.http.authority cimport authority
from steelyard.balancer.http.fields cimport (
    Lines,
    connection_options,
    content_length,
    has_zeros,
    usual_options,
    without,
)
from steelyard.balancer.http.heads cimport AnswerHead, RequestHead
from steelyard.balancer.io.octets cimport Alphabet, empty_line, extended, matches, octet, run, text_end
from steelyard.balancer.http.start_line cimport method_of, other_target, status_of

cdef int CODING, CONNECTION, DATE, EXPECT, FORWARDED_FOR, HOST, LENGTH, MAX_FORWARDS
cdef int PROXY, REQUEST_ID, UPGRADE
cdef int CR, SPACE, SLASH, ONE
cdef list CLOSE, KEEP_ALIVE
cdef Alphabet NAME, TARGET

@cython.final
cdef class Reader:
    cdef Py_ssize_t _limit
    cdef Lines _lines
    cdef Py_ssize_t _most
    cdef readonly Py_ssize_t end
    @cython.locals(
        end=Py_ssize_t, stop=Py_ssize_t, space=Py_ssize_t, last=Py_ssize_t, method=bytes,
        http11=bint, head=RequestHead,
    )
    cpdef RequestHead request(self, bytes data, Py_ssize_t seen, bint tls=*, bytes known_host=*)
    @cython.locals(end=Py_ssize_t, stop=Py_ssize_t, http11=bint, status=int, head=AnswerHead)
    cpdef AnswerHead answer(self, bytes data, Py_ssize_t seen)

cpdef bytes skip_empty_lines(bytes data)
@cython.locals(end=Py_ssize_t)
cpdef Py_ssize_t find_end(bytes data, Py_ssize_t seen, Py_ssize_t limit) except -2
@cython.locals(named=list, kept=Py_ssize_t, kind=int, text=bytes)
cdef _request_fields(RequestHead head, bytes data, Lines lines, bytes known_host)
@cython.locals(usual=list)
cdef list _options(bytes data, Lines lines, list before)
@cython.locals(named=list, kept=Py_ssize_t, kind=int, text=bytes)
cdef _answer_fields(AnswerHead head, bytes data, Lines lines)
cdef _host(RequestHead head, bytes data, Py_ssize_t start, Py_ssize_t stop, bytes known)
