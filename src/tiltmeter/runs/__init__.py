"""Runs: a plan, the asking, and the tables of a results directory."""
