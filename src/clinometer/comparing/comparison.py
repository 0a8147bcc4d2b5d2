"""Differences of runs from a baseline, and whether a candidate is worse.

Measures
    Differences of all measures that both runs have, candidate − baseline. Positive differences of
    scores are more stereotype-consistent: worse. The margin is the largest difference that does not
    matter. What is said of a candidate is said of its profile; see `deciding`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from clinometer.audits.recording import Recording
from clinometer.comparing.deciding import (
    Decision,
    Level,
    adjusted_together,
    decide,
    profile,
    said,
    signed,
)
from clinometer.comparing.independent import compare_estimates
from clinometer.comparing.matching import compare_scores
from clinometer.comparing.runs import Run, choose, own_estimates, read_runs
from clinometer.errors import InputError
from clinometer.results import ESTIMATES
from clinometer.results.controls import SPEAKS_FOR, controls_of, said_of_controls
from clinometer.results.judging import judge
from clinometer.results.schemas import MATCHES
from clinometer.results.verdicts import BETTER, WORSE, WORSE_WITHIN, unrestricted
from clinometer.statistics.changes import Contrasted
from clinometer.statistics.estimates import Inference
from clinometer.statistics.pooling import Targets
from clinometer.statistics.summaries import NEVER_POOLED

__all__ = ["Comparison", "compare", "compare_runs"]


#: Whether controls must have passed.
Requirement = Literal["required", "ignored"]

#: What is said of a mean.
_TOLD = ("estimate", "ci_low", "ci_high", "pointwise_low", "pointwise_high", "verdict")


@dataclass(frozen=True, repr=False)
class Comparison:
    """Differences of candidates from a baseline.

    Parameters
    ----------
    baseline
        The run that is compared with.
    candidates
        The runs that are compared with it.
    estimates
        Columns of `results.ESTIMATES`, with `factor` ``model``.
    matches
        Columns of `results.schemas.MATCHES`: how many trials were matched.
    margin
        Largest difference that does not matter, in the unit of the scores.
    own
        Judged means of each run by itself, by label; columns of `results.ESTIMATES`.
    explicit
        Whether explicit measures decide too.
    controls
        Whether a candidate is cleared only where the controls of both runs passed.
    """

    baseline: Run
    candidates: Sequence[Run]
    estimates: pl.DataFrame
    matches: pl.DataFrame
    margin: float
    own: Mapping[str, pl.DataFrame]
    explicit: bool = False
    controls: Requirement = "required"

    def decisions(self, level: Level = "category") -> list[Decision]:
        """Say of each candidate whether it is worse, in any category or stereotype.

        See `deciding`.
        """
        found = []
        for run in self.candidates:
            rows = profile(self.estimates.filter(candidate=run.label), level, self.explicit)
            if not rows.is_empty():
                doubts = [*self.baseline.doubts, *run.doubts, *self._lacking(run, rows)]
                found.append(decide(run.label, rows, doubts))
        return found

    def _lacking(self, candidate: Run, rows: pl.DataFrame) -> list[str]:
        """Say which controls of both runs did not pass, of what a profile was asked."""
        if self.controls == "ignored":
            return []
        asked = rows.select(*SPEAKS_FOR, "dimension").unique(maintain_order=True)
        before, after = (
            said_of_controls(controls_of(self.own[run.label], asked))
            for run in (self.baseline, candidate)
        )
        if before == after:
            return [before] if before else []
        named = {self.baseline.label: before, candidate.label: after}
        return [f"{label}: {text}" for label, text in named.items() if text]

    def means(self, candidate: str) -> pl.DataFrame:
        """Return the means of the model of one candidate, which stand beside the decision."""
        judged = pl.col("verdict").is_not_null() & pl.col("control").is_null()
        return self.estimates.filter(
            judged, level="model", method="clustered", candidate=candidate
        ).drop_nulls(["estimate", "ci_low"])

    def changes(self, candidate: str) -> pl.DataFrame:
        """Return the categories and stereotypes of a candidate that are worse or better."""
        verdict = unrestricted(pl.col("verdict"))
        told = verdict.is_in([WORSE, WORSE_WITHIN, BETTER]) & pl.col("control").is_null()
        told &= pl.col("level").is_in(["category", "stereotype"]) & (
            pl.col("method") == "clustered"
        )
        own = self.estimates.filter(told, candidate=candidate)
        order = verdict.cast(pl.Enum([WORSE, WORSE_WITHIN, BETTER]))
        return own.sort(order, pl.col("estimate").abs() * -1.0, maintain_order=True)

    def changed(self, candidate: str) -> list[str]:
        """Say of each of `changes` what it was, is, and by how much."""
        rows = self.changes(candidate).iter_rows(named=True)
        return [f"{row['verdict']}: {said(row)}" for row in rows]

    def matched(self, candidate: str) -> list[str]:
        """Say of each mean what is told, how trials were matched, and what that costs."""
        counts = self.matches.filter(level="model", candidate=candidate)
        told = self.means(candidate).select(*NEVER_POOLED, *_TOLD)
        counted = told.join(counts, on=NEVER_POOLED, nulls_equal=True)
        return list(dict.fromkeys(_matched(row) for row in counted.iter_rows(named=True)))

    def __repr__(self) -> str:
        """Return what is compared, and the decisions."""
        told = "; ".join(f"{one.candidate}: {one.verdict}" for one in self.decisions())
        return f"Comparison(baseline {self.baseline.label!r}: {told or 'no scores in common'})"


def compare(  # noqa: PLR0913 - the choices of a comparison
    baseline: object,
    *candidates: object,
    margin: float = 0.1,
    confidence: float = 0.95,
    model: str | None = None,
    explicit: bool = False,
    controls: Requirement = "required",
    recording: Recording | None = None,
) -> Comparison:
    """Compare candidates with a baseline.

    Parameters
    ----------
    baseline, candidates
        Results directories or what `read_results` gives, bundles, tables of scores, or recorded
        answers; see `read_runs`. Every model of a candidate is compared.
    margin
        Largest difference that does not matter, in the unit of the scores.
    confidence
        Of the intervals, 0…1.
    model
        The model that is the baseline, where its source has several; its others are candidates.
    explicit
        Whether explicit measures, such as self-report, decide too.
    controls
        ``required``: a candidate is cleared only where a positive and a negative control of both
        runs passed. ``ignored``: recorded answers seldom have controls.
    recording
        What recorded answers leave open.

    Returns
    -------
    Comparison

    Raises
    ------
    InputError
        If a source is missing or malformed, the baseline is not clear, there is no candidate, the
        runs have nothing in common, or a parameter means nothing.

    Examples
    --------
    >>> compare("results/a", "results/b").decisions()  # doctest: +SKIP
    """
    sources = [read_runs(one, recording) for one in (baseline, *candidates)]
    ours, others = choose(sources, model)
    inference = Inference(margin, confidence)
    return compare_runs(ours, others, inference, explicit=explicit, controls=controls)


def compare_runs(
    ours: Run,
    others: Sequence[Run],
    inference: Inference,
    *,
    explicit: bool = False,
    controls: Requirement = "required",
) -> Comparison:
    """Compare runs that have labels with a baseline; see `compare`."""
    margin, confidence = inference.margin, inference.confidence
    estimates, matches = [pl.DataFrame(schema=ESTIMATES)], [pl.DataFrame(schema=MATCHES)]
    targets: dict[tuple[Any, ...], Targets] = {}
    for theirs in others:
        for of_scores in _scores(ours, theirs, confidence, margin):
            estimates.append(of_scores.estimates)
            matches.append(of_scores.matches)
            targets |= of_scores.targets
        labels = ours.label, theirs.label
        estimates.append(compare_estimates(ours.estimates, theirs.estimates, labels, confidence))
    unchanged = [one.label for one in others if one.is_like(ours)]
    whole = judge(adjusted_together(pl.concat(estimates), targets, explicit), unchanged=unchanged)
    if whole.is_empty():
        raise InputError(
            f"{ours.label} and {', '.join(one.label for one in others)} have nothing in common: "
            "no study, instrument and mode was asked of both"
        )
    own = {run.label: own_estimates(run, inference) for run in (ours, *others)}
    matched = pl.concat(matches)
    return Comparison(ours, others, whole, matched, margin, own, explicit, controls)


def _scores(ours: Run, theirs: Run, confidence: float, margin: float) -> Iterator[Contrasted]:
    if ours.scores.is_empty() or theirs.scores.is_empty():
        return
    named = [one.scores.with_columns(model=pl.lit(one.label)) for one in (ours, theirs)]
    yield from compare_scores(named[0], named[1], confidence=confidence, margin=margin)


def _matched(row: dict[str, Any]) -> str:
    """Say what is told of one mean, and how its trials were matched."""
    where = ", ".join(
        filter(None, (row["instrument"], row["study"], row["dimension"], row["mode"]))
    )
    told = f"{where}: {signed(row)}, {row['verdict'].replace(', within', ' within')}"
    if row["matched_by"] != "trial":
        return (
            f"{told}; not in pairs, the trials differ (another seed, size or plan); compared by "
            f"stereotype over {row['n']:,} trials of each"
        )
    alone = row["n_unasked_baseline"] + row["n_unasked_candidate"]
    left_out = f", {alone:,} asked of one run only left out" if alone else ""
    gain = row["pairing_gain"]
    worth = "" if gain is None else f"; unpaired it takes {gain:.1f} times as many"
    return f"{told}; in pairs, {row['n']:,} trials{left_out}{worth}"
