"""What a report shows of hidden states."""
