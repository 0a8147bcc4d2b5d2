"""Simulated pages of known truth, made without anything of the estimator.

`planted` says what is planted and asked, `simulation` draws answers and their truths, `pages`
estimates them.
"""
