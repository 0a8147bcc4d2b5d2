"""What stands inside a model: hidden states, stereotype dimensions, associations."""
