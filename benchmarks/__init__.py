"""Every claim of speed or size, measured beside a named peer: ``python -m benchmarks [NAME…]``.

A figure here is a ratio within one run, the median of interleaved repetitions, because a time
by itself says more about the machine and its other users than about the program.
"""
