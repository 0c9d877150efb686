cimport cython

from steelyard.balancer.downstream.client cimport Client
from steelyard.balancer.downstream.front cimport Front
from steelyard.balancer.exchange.exchange cimport Exchange
from steelyard.balancer.exchange.forward cimport Forward
from steelyard.balancer.http.grammar cimport Reader, skip_empty_lines
from steelyard.balancer.http.heads cimport RequestHead
from steelyard.balancer.io.octets cimport cut
from steelyard.balancer.http.origin cimport Origin
from steelyard.balancer.io.stream cimport Stream

cdef double inf
cdef int BROKEN, IN, OUT
cdef int OPENING, SERVING, ENDING, TUNNELLING
cdef double ASK_AFTER

# The methods of the base classes are not declared again; exchange.pxd says why.
@cython.final
cdef class Http1Client(Client):
    cdef Front _front
    cdef Origin _origin
    cdef int _phase
    cdef object _rate
    cdef Py_ssize_t _seen
    cdef bint _served
    cdef bint _turning
    cdef _answer(self, int status, bytes text, bint keep, RequestHead head)
    @cython.locals(count=Py_ssize_t)
    cdef _read(self)
    @cython.locals(exchange=Exchange)
    cdef _take(self, Py_ssize_t count)
    @cython.locals(exchange=Exchange)
    cdef _take_end(self)
    cdef _half_closed(self, Exchange exchange)
    cdef _ask(self, Exchange exchange)
    @cython.locals(exchange=Exchange)
    cdef bint _moves(self)
    cdef _turn(self)
    @cython.locals(
        front=Front, reader=Reader, data=bytes, head=RequestHead, forward=Forward,
        exchange=Exchange,
    )
    cdef bint _begin(self)
    @cython.locals(limit=double)
    cdef _wait(self)
    cdef _drain(self)
    cdef _end(self)
    @cython.locals(head=RequestHead)
    cdef RequestHead _refused_head(self)
    cdef _note(self, int status, Py_ssize_t size, RequestHead head)
    cdef _linger(self)
