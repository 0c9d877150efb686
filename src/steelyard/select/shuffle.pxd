cpdef shuffle(list slots, rng)
