"""Asking: plans, trials, cues and contexts, and the answers, kept as they come."""
