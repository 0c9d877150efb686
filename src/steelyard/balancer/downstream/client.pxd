cimport cython

from steelyard.balancer.exchange.exchange cimport Exchange
from steelyard.balancer.exchange.ports cimport Downstream

cdef class Client(Downstream):
    cdef public Exchange exchange
    cpdef hasten(self)
