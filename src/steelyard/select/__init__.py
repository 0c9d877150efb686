"""Pick one of n; one policy per file, none needs anything but the standard library.

ring           weights → a shuffled sequence of slots
weighted_ring  walks a ring: the balancer's default
"""
