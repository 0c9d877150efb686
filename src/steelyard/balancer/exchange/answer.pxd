cimport cython

from steelyard.balancer.http.date cimport Date
from steelyard.balancer.http.framing cimport Body, LengthBody, length_body
from steelyard.balancer.http.grammar cimport Reader
from steelyard.balancer.http.rewriting cimport answer_start
from steelyard.balancer.http.heads cimport AnswerHead, RequestHead
from steelyard.balancer.io.octets cimport cut

@cython.final
cdef class Answer:
    cdef Body _body
    cdef bint _chunked
    cdef Date _date
    cdef bytes _inbox
    cdef Reader _reader
    cdef RequestHead _request
    cdef bint _rest
    cdef public bytes behind
    cdef readonly bint done
    cdef readonly AnswerHead head
    cdef readonly Py_ssize_t head_size
    cdef readonly bint keep
    cdef readonly bint switched
    cdef readonly bint until_close
    cpdef begin(self, RequestHead request, Reader reader, Date date)
    @cython.locals(seen=Py_ssize_t, raw=bytes, behind=bytes, out=bytes, start=bytes, head=AnswerHead)
    cpdef feed(self, data, bint closing)
    cpdef long long left(self)
    cpdef passed(self, long long size)
    cpdef bytes end(self)
    cpdef bint reusable(self)
    cdef bytes _interim(self, AnswerHead head)
    cdef bytes _switch(self, AnswerHead head)
    @cython.locals(request=RequestHead, start=bytes, here=bytes, whole=bint)
    cdef bytes _open(self, AnswerHead head, bint closing, bytes data)
    @cython.locals(body=Body)
    cdef _relay(self, data)
