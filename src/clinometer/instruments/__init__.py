"""Instruments, one file each: draw trials from stimuli and score responses."""
