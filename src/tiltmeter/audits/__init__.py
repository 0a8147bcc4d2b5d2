"""What a results directory holds: every table made from its plan and its answers."""

__all__ = ["SIZES"]

#: Sizes of an audit; what each asks stands with the instruments.
SIZES = ("quick", "standard", "paper")
