"""What a pick costs: the article's table (seed 001) with ours in it, and how cost grows with n.

cases      what is measured: which policy, among how many, from how many threads
subject    a process that measures one case when told to; one compiled, one pure
strides    the loop of compiled code (Cython only)
bench      interleaved rounds over all cases of both subjects
report     what came of it, with the bars; table: as cells, and as a section of a document

CPU time counts, not the clock on the wall: on a machine with other things to do a loop of
nanoseconds is interrupted all the time. The empty loop is measured beside and taken off, as
BenchmarkDotNet did for the article.
"""
