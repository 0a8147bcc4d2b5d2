"""Elicitation: trials to responses, and what a response says."""
