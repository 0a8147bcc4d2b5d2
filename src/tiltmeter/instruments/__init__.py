"""Instruments: one file each, from stimuli to trials and from a response to a score."""
