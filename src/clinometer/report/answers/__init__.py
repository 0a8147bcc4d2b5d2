"""What a report shows of answers: associations, decisions, attributions."""
