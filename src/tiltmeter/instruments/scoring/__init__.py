"""Responses to scores: answers of a run or recorded elsewhere, read by rules or by a judge."""

from tiltmeter.instruments.scoring.responses import Scores, open_decisions, score

__all__ = ["Scores", "open_decisions", "score"]
