"""Differences of runs from a baseline, and whether a candidate is worse.

Measures
    Differences of all measures that both runs have, candidate − baseline. A candidate is worse
    where it lies farther from neutral (`harm`). The margin is the largest difference that does not
    matter. What is said of a candidate is said of its profile; see `deciding`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from clinometer.audits.recording import Recording
from clinometer.comparing.changes import RunMeans, judge_changes
from clinometer.comparing.checks import instrument_name, telling_names
from clinometer.comparing.deciding import (
    Decision,
    Level,
    Runs,
    adjust_family,
    any_finding,
    change_text,
    decide,
    difference_text,
    profile,
)
from clinometer.comparing.independent import compare_estimates
from clinometer.comparing.matching import compare_scores
from clinometer.comparing.runs import ComparedRun, choose, estimate_run_means, read_runs
from clinometer.errors import InputError
from clinometer.numbers import number
from clinometer.results import ESTIMATES
from clinometer.results.controls import controls_of, describe_lacking_controls
from clinometer.results.ranges import rows_of_range
from clinometer.results.schemas import MATCHES
from clinometer.results.verdicts import BETTER, PRINTED_CHANGES, TURNED, WORSE
from clinometer.statistics.changes import Contrasted
from clinometer.statistics.estimates import Inference
from clinometer.statistics.looks import Looks
from clinometer.statistics.summaries import NEVER_POOLED

__all__ = ["Comparison", "compare", "compare_runs", "contrast_runs"]


#: Whether controls must have passed.
Requirement = Literal["required", "ignored"]

#: How trials were matched.
_PAIRING = ("matched_by", "n_unasked_baseline", "n_unasked_candidate", "pairing_gain")


@dataclass(frozen=True, repr=False, eq=False)  # frames have no equality
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
    confidence
        Of the intervals, 0…1.
    own
        Judged means of each run by itself, by label; columns of `results.ESTIMATES`.
    explicit
        Whether explicit measures decide too.
    controls
        Whether a candidate is cleared only where the controls of both runs passed.
    """

    baseline: ComparedRun
    candidates: Sequence[ComparedRun]
    estimates: pl.DataFrame
    matches: pl.DataFrame
    margin: float
    confidence: float
    own: Mapping[str, pl.DataFrame]
    explicit: bool = False
    controls: Requirement = "required"

    def decisions(self, level: Level = "category") -> list[Decision]:
        """Say of each candidate whether it is worse, in any category or stereotype.

        See `deciding`.
        """
        decisions = []
        for run in self.candidates:
            rows = profile(self.estimates.filter(candidate=run.label), level, self.explicit)
            if not rows.is_empty():
                doubts = [*self.baseline.doubts, *run.doubts, *self._missing_controls(run, rows)]
                decisions.append(decide(self.runs(run.label), rows, doubts))
        return decisions

    def _missing_controls(self, candidate: ComparedRun, rows: pl.DataFrame) -> list[str]:
        """Say which controls of both runs did not pass, of what a profile was asked."""
        if self.controls == "ignored":
            return []
        before, after = (
            describe_lacking_controls(controls_of(self.own[run.label], rows))
            for run in (self.baseline, candidate)
        )
        if before == after:
            return [before] if before else []
        texts = {self.baseline.label: before, candidate.label: after}
        return [f"{label}: {text}" for label, text in texts.items() if text]

    def looks(self, candidate: ComparedRun) -> Looks:
        """Return when results were looked at, of the run that was looked at more."""
        return _stricter_looks(self.baseline, candidate, 0.95)

    def means(self, candidate: str) -> pl.DataFrame:
        """Return the means of the model of one candidate, which stand beside the decision."""
        judged = pl.col("verdict").is_not_null() & pl.col("control").is_null()
        rows = rows_of_range(self.estimates, "prompts")
        return rows.filter(judged, level="model", candidate=candidate).drop_nulls(
            ["estimate", "ci_low"]
        )

    def changes(self, candidate: str) -> pl.DataFrame:
        """Return the categories and stereotypes of a candidate that are worse, turned or better."""
        verdicts = [WORSE, TURNED, BETTER]
        rows = rows_of_range(self.estimates, "prompts").filter(
            pl.col("verdict").is_in(verdicts) & pl.col("control").is_null(),
            pl.col("level").is_in(["category", "stereotype"]),
            candidate=candidate,
        )
        order = pl.col("verdict").cast(pl.Enum(verdicts))
        return rows.sort(order, pl.col("estimate").abs() * -1.0, maintain_order=True)

    def runs(self, candidate: str) -> Runs:
        """Return the baseline and a candidate."""
        return self.baseline, next(run for run in self.candidates if run.label == candidate)

    def changed(self, candidate: str) -> list[str]:
        """Say of each of `changes` what it was, is, and by how much."""
        rows = self.changes(candidate).rows(named=True)
        runs, names = self.runs(candidate), telling_names(rows)
        return [
            f"{PRINTED_CHANGES[row['verdict']]}: {change_text(row, runs, names)}" for row in rows
        ]

    def matched(self, candidate: str) -> list[str]:
        """Say of each mean what is told, how trials were matched, and what that costs."""
        rows = self._matched_means(candidate)
        texts = [
            f"{name}: {difference_text(row)}, {_printed(row)}; {_pairing_text(row)}"
            for row, name in zip(rows, self._instruments(candidate, rows), strict=True)
        ]
        return list(dict.fromkeys(texts))

    def paired(self, candidate: str) -> list[str]:
        """Say how the trials of each mean were matched, those that were matched alike together."""
        instruments: dict[str, dict[str, None]] = {}
        rows = self._matched_means(candidate)
        for row, name in zip(rows, self._instruments(candidate, rows), strict=True):
            instruments.setdefault(_pairing_text(row), {})[name] = None
        return [f"{', '.join(alike)}: {text}" for text, alike in instruments.items()]

    def _instruments(self, candidate: str, rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
        """Name the instrument of each of some changes, and how it was asked."""
        runs, names = self.runs(candidate), telling_names(rows)
        for row in rows:
            yield instrument_name(row, names, any_finding(row, runs))

    def _matched_means(self, candidate: str) -> list[dict[str, Any]]:
        """Return the means of the model of one candidate with the counts of their trials."""
        counts = self.matches.filter(level="model", candidate=candidate)
        counts = counts.select(*NEVER_POOLED, *_PAIRING, n_matched="n")
        means = self.means(candidate)
        return means.join(counts, on=NEVER_POOLED, nulls_equal=True).rows(named=True)

    def __repr__(self) -> str:
        """Return what is compared, and the decisions."""
        decisions = self.decisions()
        verdicts = "; ".join(f"{decision.candidate}: {decision.verdict}" for decision in decisions)
        return f"Comparison(baseline {self.baseline.label!r}: {verdicts or 'no scores in common'})"


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
    sources = [read_runs(source, recording) for source in (baseline, *candidates)]
    ours, theirs = choose(sources, model)
    inference = Inference(margin, confidence)
    return compare_runs(ours, theirs, inference, explicit=explicit, controls=controls)


def compare_runs(
    baseline: ComparedRun,
    candidates: Sequence[ComparedRun],
    inference: Inference,
    *,
    explicit: bool = False,
    controls: Requirement = "required",
) -> Comparison:
    """Compare runs that have labels with a baseline; see `compare`."""
    margin = inference.margin
    # Empty tables first, so that there is something to join where runs have nothing in common.
    estimates = [pl.DataFrame(schema=ESTIMATES)]
    matches = [pl.DataFrame(schema=MATCHES)]
    for candidate in candidates:
        looks = _stricter_looks(baseline, candidate, inference.confidence)
        confidence = looks.confidence(inference.confidence)
        for contrasted in contrast_runs(baseline, candidate, confidence, margin):
            estimates.append(contrasted.estimates)
            matches.append(contrasted.matches)
        labels = baseline.label, candidate.label
        estimates.append(
            compare_estimates(baseline.estimates, candidate.estimates, labels, confidence)
        )
    adjusted = adjust_family(pl.concat(estimates), explicit)
    if adjusted.is_empty():
        raise InputError(
            f"{baseline.label} and {', '.join(run.label for run in candidates)} have nothing in "
            "common: no study, instrument and mode was asked of both"
        )
    means = {run.label: estimate_run_means(run, inference) for run in (baseline, *candidates)}
    judged = judge_changes(
        adjusted,
        RunMeans.from_tables(means),
        inference.confidence,
        {run.label: _stricter_looks(baseline, run, inference.confidence) for run in candidates},
        [run.label for run in candidates if run.is_like(baseline)],
        explicit=explicit,
    )
    all_matches = pl.concat(matches)
    return Comparison(
        baseline,
        candidates,
        judged,
        all_matches,
        margin,
        inference.confidence,
        means,
        explicit,
        controls,
    )


def _stricter_looks(baseline: ComparedRun, candidate: ComparedRun, confidence: float) -> Looks:
    """Return the looks of the run that was looked at more: it could have ended at each of them."""
    looks = (baseline.looks, candidate.looks)
    return max(looks, key=lambda run_looks: run_looks.confidence(confidence))


def contrast_runs(
    ours: ComparedRun, theirs: ComparedRun, confidence: float, margin: float
) -> Iterator[Contrasted]:
    """Yield the differences of the scores of two runs, not judged; none where one has none."""
    if ours.scores.is_empty() or theirs.scores.is_empty():
        return
    labelled = [run.scores.with_columns(model=pl.lit(run.label)) for run in (ours, theirs)]
    yield from compare_scores(labelled[0], labelled[1], confidence=confidence, margin=margin)


def _printed(row: Mapping[str, Any]) -> str:
    verdict = str(row["verdict"])
    return PRINTED_CHANGES.get(verdict, verdict)


def _pairing_text(row: Mapping[str, Any]) -> str:
    """Say how the trials of a mean were matched."""
    if row["matched_by"] != "trial":
        return (
            "not in pairs, the trials differ (another seed, size or plan); "
            f"compared by stereotype over {row['n_matched']:,} trials of each"
        )
    n_unpaired = row["n_unasked_baseline"] + row["n_unasked_candidate"]
    omission = f", {n_unpaired:,} asked of one run only left out" if n_unpaired else ""
    gain = row["pairing_gain"]
    worth = "" if gain is None else f"; unpaired it takes {number(gain, 1)} times as many"
    return f"in pairs, {row['n_matched']:,} trials{omission}{worth}"
