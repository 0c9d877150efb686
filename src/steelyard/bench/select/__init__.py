"""What a pick costs: the article's table (seed 001) with our policies in it, and how the cost grows
with n.

cases      the cases: which policy, among how many members, from how many threads
subject    a process that measures one case when told to; one compiled, one pure
strides    the loop of compiled code (Cython only)
bench      interleaved rounds over all cases of both subjects
report     the results, with the bars; table: as cells, and as a section of a document

CPU time counts, not wall time: on a machine with other things to do a loop of nanoseconds is
interrupted all the time. The empty loop is measured as well and subtracted, as BenchmarkDotNet did
for the article.
"""
