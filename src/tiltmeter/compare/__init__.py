"""Compare runs, decide by a policy, and keep the evidence."""
