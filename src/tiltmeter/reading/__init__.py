"""Reading: what an answer says, by rules."""
