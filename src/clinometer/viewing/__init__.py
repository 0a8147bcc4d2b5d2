"""Results directories as pages on this machine, while a run goes on and after it."""
