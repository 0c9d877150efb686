cimport cython

from steelyard.select.shuffle cimport shuffle

cpdef list apportion(weights, Py_ssize_t size)
@cython.locals(total=double, quota=double, whole=Py_ssize_t, index=Py_ssize_t, spare=Py_ssize_t)
cdef _largest_remainder(list slots, list scaled, list rest, Py_ssize_t left)
