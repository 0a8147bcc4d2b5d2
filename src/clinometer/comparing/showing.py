"""From a number to the answers behind it, and from an answer to the numbers it enters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from clinometer.comparing.findings import MeanKey, findings_by_mean
from clinometer.directory.results import read_estimates
from clinometer.errors import InputError, unknown
from clinometer.pieces.findings import Finding
from clinometer.results import CONDITIONS, RESPONSES, SCORES, join_methods
from clinometer.results.bundles import unpacked
from clinometer.results.evidence import run_notes
from clinometer.results.places import anywhere
from clinometer.results.ranges import IN_PROMPTS
from clinometer.results.tables import scan_table

__all__ = ["Shown", "show"]

#: Columns whose values name what is shown, the widest first.
NAME_COLUMNS = (
    "model",
    "study",
    "instrument",
    "mode",
    *CONDITIONS,
    "category",
    "stereotype",
    "dimension",
    "variation",
    "marginalized",
    "default",
    "order",
    "reason",
    "trial_id",
)

#: What an estimate and a score have in common.
_ASKING = ("model", "study", "instrument", "mode", *CONDITIONS, "word_list", "scoring")
_TOPIC = ("category", "stereotype", "dimension", "variation")

_TEXTS = (
    "system",
    "prompt",
    "profile",
    "followup",
    "reasoning",
    "response",
    "options",
    "error",
    "stop_reason",
)


@dataclass(frozen=True)
class Shown:
    """Answers, and the estimates that they enter.

    Parameters
    ----------
    answers
        Columns of `results.SCORES`, with ``system, prompt, profile, followup, reasoning,
        response, options, error, stop_reason``: a row per score.
    estimates
        Columns of `results.ESTIMATES`, method ``clustered``: means that these answers enter.
    """

    answers: pl.DataFrame
    estimates: pl.DataFrame
    findings: Mapping[MeanKey, Finding] = field(default_factory=dict)
    """What is told of means of the directory, by `findings.mean_key` of an estimate."""
    elsewhere: Sequence[str] = ()
    """What of the directory was not made here, as far as the user's key tells."""


@anywhere(directory=True)
def show(directory: str | Path, what: Sequence[str] = ()) -> Shown:
    """Find answers by what they are about, with the estimates that they enter.

    Parameters
    ----------
    directory
        A results directory, or a bundle.
    what
        Names that an answer has to have: a stereotype, a category, a model, a mode, a wording, a
        group word, a reason for having no score, a trial. All have to hold.

    Returns
    -------
    Shown

    Raises
    ------
    InputError
        If the directory has no scores, a name is not known, no answer has all of them, or the
        bundle was changed.

    Examples
    --------
    >>> show("results/clinometer-smollm2-quick", ["age", "forced"]).answers  # doctest: +SKIP
    """
    with unpacked(Path(directory)) as path:
        return _show_directory(path, what)


def _show_directory(path: Path, what: Sequence[str]) -> Shown:
    for name in ("scores", "responses"):
        if not (path / f"{name}.parquet").is_file():
            raise InputError(f"{path / name}.parquet: not found; give a results directory")
    scores = scan_table(path / "scores.parquet", SCORES).select(list(SCORES)).collect()
    matches = scores
    for name in what:
        matches = matches.filter(_has_name(name, scores))
    if matches.is_empty():
        raise InputError(f"{path}: no answer is {' and '.join(map(repr, what)) or 'there'}")
    texts = scan_table(path / "responses.parquet", RESPONSES).select("model", "trial_id", *_TEXTS)
    answer_texts = texts.join(matches.lazy(), on=["model", "trial_id"], how="semi").collect()
    answers = matches.join(
        answer_texts.unique(["model", "trial_id"], keep="first"),
        on=["model", "trial_id"],
        how="left",
        maintain_order="left",
    )
    elsewhere = [note.text for note in run_notes(path).values()]
    entered = _entered_means(matches, read_estimates(path))
    return Shown(answers, entered, findings_by_mean(path), elsewhere)


def _has_name(name: str, scores: pl.DataFrame) -> pl.Expr:
    """Return where a column has a name; InputError if none has."""
    columns = [c for c in NAME_COLUMNS if scores[c].eq(name).any()]
    if not columns:
        names = [v for c in NAME_COLUMNS[:-1] for v in scores[c].drop_nulls().unique().to_list()]
        raise InputError(unknown("name", name, dict.fromkeys(names)))
    return pl.any_horizontal(pl.col(c).eq(name).fill_null(False) for c in columns)


def _entered_means(scores: pl.DataFrame, estimates: pl.DataFrame) -> pl.DataFrame:
    """Return the means that all of some answers enter, the finest first."""
    means = pl.col("factor").is_null() & (pl.col("measure") == pl.col("instrument"))
    rows = join_methods(estimates.filter(means), "clustered", IN_PROMPTS)
    groups = scores.select(*_ASKING, *_TOPIC).unique()
    # Controls enter no mean of the others.
    kinds = scores["control"].unique()
    entered = pl.any_horizontal(
        pl.col("control").eq_missing(pl.lit(kind, pl.String)) for kind in kinds
    )
    for column in (*_ASKING, *_TOPIC):
        values = groups[column].unique()
        same = pl.col(column).is_null()
        if len(values) == 1 and values[0] is not None:
            same |= pl.col(column) == values[0]
        elif values.null_count() < len(values) and column in _ASKING:
            same |= pl.col(column).is_in(values.drop_nulls().implode())
        entered &= same
    order = pl.col("level").cast(pl.Enum(["cell", "stereotype", "category", "model", "overall"]))
    return rows.filter(entered).sort(order, maintain_order=True)
