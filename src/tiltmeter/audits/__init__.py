"""What a results directory holds: every table made from its plan and its answers."""
