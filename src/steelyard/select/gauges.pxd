cdef double MOMENT, LONGEST, WINDOW

cpdef double trust(long long answers, double elapsed) except? -1
cpdef double pace(double before, double seconds, int line, double weight) except? -1
