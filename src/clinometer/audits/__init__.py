"""Audits: ask models, and make every table of a results directory from its plan and answers."""

__all__ = ["SIZES"]

#: Sizes of an audit; `sizes` of each instrument says what is asked.
SIZES = ("quick", "standard", "paper")
