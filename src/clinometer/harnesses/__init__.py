"""Instruments in the harnesses of others: lm-evaluation-harness and promptfoo.

The trials are those of `clinometer run`, answers are read by the same readers, and means are those
of `clinometer estimate`, in which each stereotype counts once. ``python -m clinometer.harnesses
NAME`` prints where the files of a harness are.
"""
