cimport cython

from steelyard.balancer.exchange.answer cimport Answer
from steelyard.balancer.pool.counters cimport Tally
from steelyard.balancer.exchange.forward cimport Forward
from steelyard.balancer.exchange.ports cimport Downstream
from steelyard.balancer.exchange.shared cimport Shared
from steelyard.balancer.http.heads cimport RequestHead
from steelyard.balancer.pool.limits cimport Limits
from steelyard.balancer.io.loop cimport Loop
from steelyard.balancer.io.syscalls cimport monotonic
from steelyard.balancer.exchange.tunnel cimport Tunnel
from steelyard.balancer.pool.pool cimport Pool
from steelyard.balancer.pool.requester cimport Requester
from steelyard.balancer.pool.upstream cimport Upstream

cdef double inf
cdef int IN, OUT, FAULT
cdef double FAILED
cdef Py_ssize_t FRONT, LARGE
cdef Py_ssize_t WINDOW

# The methods of `Requester` are not declared again: in a final class, Cython would treat a second
# declaration as a change of final methods.
@cython.final
cdef class Exchange(Requester):
    cdef double _began
    cdef bint _broken
    cdef Downstream _client
    cdef bint _heard
    cdef long long _mark
    cdef double _opened
    cdef bint _reached
    cdef bint _relayed
    cdef Shared _shared
    cdef Upstream _upstream
    cdef bint _waiting
    cdef double _waits_since
    cdef readonly Answer answer
    cdef readonly Forward forward
    cpdef begin(self, Shared shared, Downstream client, Forward forward)
    @cython.locals(forward=Forward, client=Downstream)
    cpdef start(self)
    @cython.locals(upstream=Upstream)
    cpdef on_body(self, data)
    @cython.locals(upstream=Upstream)
    cpdef on_client_drained(self)
    cpdef on_client_late(self)
    cpdef on_overdue(self)
    cpdef cancel(self)
    @cython.locals(pool=Pool)
    cdef _wait(self)
    cdef _stop_waiting(self)
    @cython.locals(loop=Loop)
    cdef _front(self, Py_ssize_t count, bint opened)
    cdef _behind(self, Py_ssize_t count)
    cdef _begin(self, Upstream upstream)
    @cython.locals(forward=Forward, before=cython.longlong, head=bytes)
    cdef _transmit(self, Upstream upstream)
    @cython.locals(before=cython.longlong, taken=bint)
    cdef _pass_on(self, Upstream upstream, out)
    cdef _keep_back(self, out)
    @cython.locals(limits=Limits, done=bint)
    cdef _sent(self, Upstream upstream, long long before)
    cdef _read_on(self, Upstream upstream)
    cdef _break(self, Upstream upstream)
    cdef _forget_body(self)
    cdef _body_progress(self)
    cdef bint _repeatable(self, Upstream upstream)
    @cython.locals(counted=double, seconds=double, tally=Tally)
    cdef _measure(self, Upstream upstream, int status)
    cdef bint _closing(self)
    cdef _answer_progress(self, Downstream client, Upstream upstream)
    @cython.locals(tunnel=Tunnel)
    cdef _switch(self, Downstream client, Upstream upstream)
    @cython.locals(clean=bint)
    cdef _complete(self, Upstream upstream)
    cdef _unplaced(self)
    cdef _no_worker(self)
    cdef _be_the_last(self, RequestHead head)
    cdef _refuse(self, str reason)
    cdef _end(self, int status, str reason, bint failed)
    cpdef note(self, int status, Py_ssize_t size, str outcome)
    cdef _note_end(self, int status, str outcome)
    cdef _drop_upstream(self, bint failed)
    cdef double _pause_limit(self)
