cimport cython

from steelyard.balancer.answer cimport Answer
from steelyard.balancer.client cimport Client
from steelyard.balancer.counters cimport Tally
from steelyard.balancer.dial cimport Dial
from steelyard.balancer.forward cimport Forward
from steelyard.balancer.limits cimport Limits
from steelyard.balancer.plane cimport Plane
from steelyard.balancer.syscalls cimport monotonic
from steelyard.balancer.upstream cimport Upstream

cdef double inf
cdef int IN, OUT, FAULT
cdef Py_ssize_t WINDOW

@cython.freelist(64)
cdef class Exchange:
    cdef double _began
    cdef bint _broken
    cdef Client _client
    cdef Dial _dial
    cdef bint _heard
    cdef long long _mark
    cdef double _opened
    cdef Plane _plane
    cdef bint _relayed
    cdef Upstream _upstream
    cdef bint _waiting
    cdef double _waits_since
    cdef readonly Answer answer
    cdef readonly Forward forward
    @cython.locals(forward=Forward, client=Client)
    cpdef void start(self)
    @cython.locals(upstream=Upstream)
    cpdef void on_body(self, data)
    @cython.locals(upstream=Upstream)
    cpdef void on_client_drained(self)
    cpdef void on_client_late(self)
    cpdef void on_overdue(self)
    cpdef void cancel(self)
    @cython.locals(upstream=Upstream)
    cpdef void on_turn(self)
    cpdef void on_wait_over(self)
    cdef void _stand_in_line(self)
    cdef void _leave_line(self)
    @cython.locals(upstream=Upstream)
    cpdef void on_connected(self)
    @cython.locals(upstream=Upstream, before=cython.longlong)
    cpdef void on_worker_writable(self)
    @cython.locals(answer=Answer, client=Client, upstream=Upstream, opened=bint)
    cpdef void on_answer(self, data)
    @cython.locals(upstream=Upstream)
    cpdef void on_answer_end(self)
    @cython.locals(upstream=Upstream, stale=bint)
    cpdef void on_worker_gone(self)
    @cython.locals(upstream=Upstream)
    cpdef void on_worker_late(self)
    cpdef void on_mishap(self)
    cdef void _begin(self, Upstream upstream)
    @cython.locals(forward=Forward, before=cython.longlong)
    cdef void _transmit(self, Upstream upstream)
    @cython.locals(before=cython.longlong, taken=bint)
    cdef void _pass_on(self, Upstream upstream, out)
    cdef void _keep_back(self, out)
    @cython.locals(limits=Limits, done=bint)
    cdef void _sent(self, Upstream upstream, long long before)
    cdef void _read_on(self, Upstream upstream)
    cdef void _break(self, Upstream upstream)
    cdef void _forget_body(self)
    cdef void _body_progress(self)
    cdef bint _repeatable(self, Upstream upstream)
    @cython.locals(seconds=double, tally=Tally)
    cdef void _measure(self, Upstream upstream, int status)
    cdef bint _closing(self)
    cdef void _answer_progress(self, Client client, Upstream upstream)
    cdef void _switch(self, Client client, Upstream upstream)
    @cython.locals(clean=bint)
    cdef void _complete(self, Upstream upstream)
    cdef void _unplaced(self)
    cdef void _no_worker(self)
    cdef void _refuse(self, str reason)
    cdef void _end(self, int status, str reason, bint failed)
    cpdef void note(self, int status, Py_ssize_t size, str outcome)
    cdef void _note_end(self, int status, str outcome)
    cdef void _drop_upstream(self, bint failed)
    cdef double _pause_limit(self)
