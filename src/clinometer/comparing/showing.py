"""From a number to the answers behind it, and from an answer to the numbers it enters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from clinometer.errors import InputError, unknown
from clinometer.results import CONDITIONS, RESPONSES, SCORES
from clinometer.results.bundles import unpacked
from clinometer.results.directory import read_estimates
from clinometer.results.places import anywhere
from clinometer.results.tables import scan_table

__all__ = ["Shown", "show"]

#: Columns whose values name what is shown, the widest first.
NAMED = (
    *("model", "study", "instrument", "mode", *CONDITIONS, "category", "stereotype"),
    *("dimension", "variation", "marginalized", "default", "order", "reason", "trial_id"),
)

#: What an estimate and a score have in common.
_SHARED = ("model", "study", "instrument", "mode", *CONDITIONS, "word_list", "scoring")
_ABOUT = ("category", "stereotype", "dimension", "variation")

_TEXTS = (
    *("system", "prompt", "profile", "followup", "reasoning", "response", "options"),
    *("error", "stop_reason"),
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
        return _shown(path, what)


def _shown(path: Path, what: Sequence[str]) -> Shown:
    for name in ("scores", "responses"):
        if not (path / f"{name}.parquet").is_file():
            raise InputError(f"{path / name}.parquet: not found; give a results directory")
    scores = scan_table(path / "scores.parquet", SCORES).select(list(SCORES)).collect()
    chosen = scores
    for one in what:
        chosen = chosen.filter(_is(one, scores))
    if chosen.is_empty():
        raise InputError(f"{path}: no answer is {' and '.join(map(repr, what)) or 'there'}")
    texts = scan_table(path / "responses.parquet", RESPONSES).select("model", "trial_id", *_TEXTS)
    own = texts.join(chosen.lazy(), on=["model", "trial_id"], how="semi").collect()
    answers = chosen.join(
        own.unique(["model", "trial_id"], keep="first"),
        on=["model", "trial_id"],
        how="left",
        maintain_order="left",
    )
    return Shown(answers, _entered(chosen, read_estimates(path)))


def _is(name: str, scores: pl.DataFrame) -> pl.Expr:
    """Return where a column has a name; InputError if none has."""
    columns = [c for c in NAMED if scores[c].eq(name).any()]
    if not columns:
        known = [v for c in NAMED[:-1] for v in scores[c].drop_nulls().unique().to_list()]
        raise InputError(unknown("name", name, dict.fromkeys(known)))
    return pl.any_horizontal(pl.col(c).eq(name).fill_null(False) for c in columns)


def _entered(chosen: pl.DataFrame, estimates: pl.DataFrame) -> pl.DataFrame:
    """Return the means that all of some answers enter, the finest first."""
    rows = estimates.filter(
        pl.col("factor").is_null() & (pl.col("measure") == pl.col("instrument")),
        method="clustered",
    )
    groups = chosen.select(*_SHARED, *_ABOUT).unique()
    entered = pl.lit(True)
    for column in (*_SHARED, *_ABOUT):
        values = groups[column].unique()
        same = pl.col(column).is_null()
        if len(values) == 1 and values[0] is not None:
            same |= pl.col(column) == values[0]
        elif values.null_count() < len(values) and column in _SHARED:
            same |= pl.col(column).is_in(values.drop_nulls().implode())
        entered &= same
    order = pl.col("level").cast(pl.Enum(["cell", "stereotype", "category", "model", "overall"]))
    return rows.filter(entered).sort(order, maintain_order=True)
