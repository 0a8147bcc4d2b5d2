"""What a results directory holds: every table, those of instruments and families included."""
