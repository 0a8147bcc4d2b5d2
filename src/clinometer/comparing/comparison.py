"""Differences of runs from a baseline, and whether a candidate is worse.

Measures
    Differences of all measures that both runs have, candidate − baseline. Positive differences of
    scores are more stereotype-consistent: worse. The margin is the largest difference that does not
    matter.

Headline
    Over the means of the model, one for each study, instrument, mode and dimension, without
    controls; p adjusted over them (Holm).

    ==================  ==========================================================================
    worse               a mean is worse, and its interval does not end within the margin
    better              a mean is better, and every interval ends within the margin
    not worse           every interval ends within the margin
    cannot tell         none of these
    ==================  ==========================================================================

    That every mean is within the margin needs no adjustment (Berger 1982, Technometrics 24(4),
    295–300).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from clinometer.audits.recording import Recording
from clinometer.comparing.independent import compare_estimates
from clinometer.comparing.matching import compare_scores
from clinometer.comparing.runs import Run, choose, read_runs
from clinometer.errors import InputError
from clinometer.results import ESTIMATES
from clinometer.results.schemas import MATCHES
from clinometer.results.verdicts import (
    BETTER,
    CANNOT_TELL,
    NOT_WORSE,
    WORSE,
    WORSE_WITHIN,
    judge,
    toward_worse,
)
from clinometer.statistics.clustered import holm
from clinometer.statistics.summaries import NEVER_POOLED

__all__ = ["Comparison", "Headline", "compare", "signed"]


#: What is said of a mean.
_TOLD = ("estimate", "ci_low", "ci_high", "verdict")


@dataclass(frozen=True)
class Headline:
    """What may be said of one candidate."""

    candidate: str
    verdict: str  # worse, better, not worse within margin, cannot tell
    row: dict[str, Any]  # of `results.ESTIMATES`: the mean that decides
    means: int  # over which it is said

    def text(self) -> str:
        """Return the verdict in one line, with the mean that decides."""
        row = self.row
        where = ", ".join(filter(None, (row["study"], row["dimension"], f"mode {row['mode']}")))
        return f"{self._verdict()}: {row['instrument']} ({where}) {signed(row)}"

    def _verdict(self) -> str:
        if self.verdict == NOT_WORSE:
            return f"not worse within the margin of {self.row['tost_margin']}"
        if self.verdict != CANNOT_TELL:
            return self.verdict
        more = self.row["n_more"]
        if more is None:
            return "cannot tell, more wordings are needed"
        return f"cannot tell, {more:,} more trial{'s' * (more > 1)} of each would"


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
    """

    baseline: Run
    candidates: Sequence[Run]
    estimates: pl.DataFrame
    matches: pl.DataFrame
    margin: float

    def headlines(self) -> list[Headline]:
        """Say of each candidate whether it is worse; see `Headline`."""
        found = []
        for run in self.candidates:
            rows = self.means(run.label)
            if not rows.is_empty():
                found.append(_headline(run.label, rows))
        return found

    def means(self, candidate: str) -> pl.DataFrame:
        """Return the means of the model of one candidate that the headline is about."""
        judged = pl.col("verdict").is_not_null() & pl.col("control").is_null()
        return self.estimates.filter(
            judged, level="model", method="clustered", candidate=candidate
        ).drop_nulls(["estimate", "ci_low"])

    def changes(self, candidate: str) -> pl.DataFrame:
        """Return the categories and stereotypes of a candidate that are worse or better."""
        told = pl.col("verdict").is_in([WORSE, WORSE_WITHIN, BETTER]) & pl.col("control").is_null()
        told &= pl.col("level").is_in(["category", "stereotype"]) & (
            pl.col("method") == "clustered"
        )
        own = self.estimates.filter(told, candidate=candidate)
        order = pl.col("verdict").cast(pl.Enum([WORSE, WORSE_WITHIN, BETTER]))
        return own.sort(order, pl.col("estimate").abs() * -1.0, maintain_order=True)

    def changed(self, candidate: str) -> list[str]:
        """Say of each of `changes` what it was, is, and by how much."""
        return [_change(row) for row in self.changes(candidate).iter_rows(named=True)]

    def matched(self, candidate: str) -> list[str]:
        """Say of each mean what is told, how trials were matched, and what that costs."""
        keys = [name for name in NEVER_POOLED if name != "control"]
        counts = self.matches.filter(level="model", candidate=candidate)
        told = self.means(candidate).select(*keys, *_TOLD)
        counted = told.join(counts, on=keys, nulls_equal=True)
        return list(dict.fromkeys(_matched(row) for row in counted.iter_rows(named=True)))

    def __repr__(self) -> str:
        """Return what is compared, and the headlines."""
        said = "; ".join(f"{one.candidate}: {one.verdict}" for one in self.headlines())
        return f"Comparison(baseline {self.baseline.label!r}: {said or 'no scores in common'})"


def compare(
    baseline: object,
    *candidates: object,
    margin: float = 0.1,
    confidence: float = 0.95,
    model: str | None = None,
    recording: Recording | None = None,
) -> Comparison:
    """Compare candidates with a baseline.

    Parameters
    ----------
    baseline, candidates
        Results directories or what `read_results` gives, tables of scores, or recorded answers; see
        `read_runs`. Every model of a candidate is compared.
    margin
        Largest difference that does not matter, in the unit of the scores.
    confidence
        Of the intervals, 0…1.
    model
        The model that is the baseline, where its source has several; its others are candidates.
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
    >>> compare("results/a", "results/b").headlines()  # doctest: +SKIP
    """
    sources = [read_runs(one, recording) for one in (baseline, *candidates)]
    ours, others = choose(sources, model)
    estimates, matches = [pl.DataFrame(schema=ESTIMATES)], [pl.DataFrame(schema=MATCHES)]
    for theirs in others:
        of_scores = list(_scores(ours, theirs, confidence, margin))
        estimates += [judge(one[0]) for one in of_scores]
        matches += [one[1] for one in of_scores]
        labels = ours.label, theirs.label
        estimates.append(compare_estimates(ours.estimates, theirs.estimates, labels, confidence))
    whole = pl.concat(estimates)
    if whole.is_empty():
        raise InputError(
            f"{ours.label} and {', '.join(one.label for one in others)} have nothing in common: "
            "no study, instrument and mode was asked of both"
        )
    return Comparison(ours, others, whole, pl.concat(matches), margin)


def _scores(
    ours: Run, theirs: Run, confidence: float, margin: float
) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    if ours.scores.is_empty() or theirs.scores.is_empty():
        return
    named = [one.scores.with_columns(model=pl.lit(one.label)) for one in (ours, theirs)]
    yield from compare_scores(named[0], named[1], confidence=confidence, margin=margin)


def signed(row: dict[str, Any]) -> str:
    """Write a difference with its interval."""
    mean, *ends = (_number(row[name], "+") for name in ("estimate", "ci_low", "ci_high"))
    return f"{mean} [{', '.join(ends)}]"


def _number(value: float, sign: str = "") -> str:
    """Write a number with two digits; 0 has no sign."""
    text = f"{value:{sign}.2f}"
    return text if float(text) else "0.00"


def _change(row: dict[str, Any]) -> str:
    names = (row[name] for name in ("instrument", "dimension", "mode"))
    before, after = (_number(row[f"{run}_estimate"]) for run in ("baseline", "candidate"))
    return (
        f"{row['verdict']}: {row['stereotype'] or row['category']} "
        f"({', '.join(filter(None, names))}) {before} -> {after}, {signed(row)}"
    )


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


def _headline(candidate: str, rows: pl.DataFrame) -> Headline:
    """Say whether a candidate is worse, by the means of the model, and which of them decides."""
    toward, end = toward_worse()
    told = pl.Series(holm(rows["p"].fill_null(1.0).to_numpy())) < 1.0 - rows["confidence"]
    shown = rows.with_columns(toward=toward, end=end, told=told)
    beyond = shown.filter(pl.col("end") >= pl.col("tost_margin"))
    rules = (
        (WORSE, beyond.filter("told", pl.col("toward") > 0)),
        (CANNOT_TELL, beyond),
        (BETTER, shown.filter("told", pl.col("toward") < 0).reverse()),
        (NOT_WORSE, shown),
    )
    verdict, decisive = next((name, part) for name, part in rules if not part.is_empty())
    by = "toward" if verdict != CANNOT_TELL else "end"
    decisive = decisive.sort(by, descending=verdict != BETTER, maintain_order=True)
    row = decisive.select(list(ESTIMATES)).row(0, named=True)
    return Headline(candidate, verdict, row, rows.height)
