"""What a report shows of association networks."""
