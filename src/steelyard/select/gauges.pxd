cimport cython

cdef double _BOLD, _NEWEST, LONGEST, MOMENT, WINDOW

@cython.locals(first=double, later=double)
cpdef double trust(long long answers, double elapsed) except? -1
@cython.locals(each=double, most=double)
cpdef double pace(double before, double seconds, int line, double weight) except? -1
