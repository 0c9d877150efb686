cimport cython

from steelyard.balancer.pool.counters cimport Tally
from steelyard.balancer.exchange.frames cimport Frames
from steelyard.balancer.io.loop cimport Handler, Loop
from steelyard.balancer.io.stream cimport Stream

cdef double inf, PARTING
cdef int BROKEN, IN, OUT

@cython.final
cdef class Tunnel:
    cdef Side _back
    cdef object _client
    cdef bint _ended
    cdef Side _front
    cdef double _idle
    cdef Loop _loop
    cdef Tally _tally
    cdef double _until
    cdef object _upstream
    cpdef frame(self, answered, early)
    cpdef begin(self, bytes early, bint eof)
    cpdef bint dismiss(self)
    cpdef expire(self)
    cpdef count(self, Side side, Py_ssize_t count)
    cpdef moved(self)
    cpdef settle(self)
    @cython.locals(other=Side)
    cpdef broken(self, Side side)
    cpdef close(self)

cdef class Side(Handler):
    cdef bint _muted
    cdef Tunnel _tunnel
    cdef bytes _word
    cdef readonly bint eof
    cdef readonly Frames frames
    cdef public Side other
    cdef readonly bint shut
    cdef readonly Stream stream
    @cython.locals(stream=Stream)
    cpdef on_event(self, int mask)
    cpdef expire(self)
    cpdef abort(self)
    cpdef lost(self)
    cpdef bint dismiss(self)
    cpdef follow(self, first)
    @cython.locals(frames=Frames)
    cpdef part(self, bytes word)
    cpdef hold_up(self, Side source)
    cpdef ended(self)
    @cython.locals(stream=Stream)
    cpdef finish(self)
    @cython.locals(stream=Stream, count=Py_ssize_t)
    cdef _read(self)
    @cython.locals(other=Side)
    cdef _pass_on(self, Py_ssize_t count)
    @cython.locals(frames=Frames, end=Py_ssize_t)
    cdef _framed(self, data)
    @cython.locals(stream=Stream)
    cdef _drain(self)
    cdef _gone(self)
    cdef _park_when_done(self)
