cimport cython

cdef class Requester:
    cdef public bint crowded
    cdef public object pin
    cdef public tuple tried
    cpdef on_turn(self)
    cpdef on_wait_over(self)
    cpdef on_connected(self)
    cpdef on_worker_writable(self)
    cpdef bint flows(self)
    cpdef long long left(self)
    cpdef on_flow(self, Py_ssize_t count)
    cpdef on_answer(self, Py_ssize_t count)
    cpdef on_answer_end(self)
    cpdef on_worker_gone(self)
    cpdef on_worker_late(self)
    cpdef on_mishap(self)
