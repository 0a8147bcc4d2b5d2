"""What a results directory holds, read with suspicion.

Every text in it is untrusted. Only the plan and the estimates must be there; a table that is
absent leaves its section out, a malformed one is named in an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl
import polars.selectors as cs

from tiltmeter.errors import InputError
from tiltmeter.frames import ESTIMATES, REASONS, WORDS, Schema, check
from tiltmeter.report.plan import Plan, read_plan
from tiltmeter.statistics.contrasts import CONTRASTS
from tiltmeter.statistics.logistic import REGRESSIONS

__all__ = ["CHAINED", "YES_SHARES", "Results", "read_results"]

_ASKED: Schema = dict.fromkeys(("model", "study", "mode", "intervention"), pl.String())
_ABOUT: Schema = {**_ASKED, "category": pl.String(), "stereotype": pl.String()}

#: Share of yes per version of an absolute decision.
YES_SHARES: Schema = {
    **_ABOUT,
    "version": pl.String(),
    "n": pl.Int64(),
    "n_yes": pl.Int64(),
    "n_no": pl.Int64(),
    "yes_share": pl.Float64(),
}

#: One row per chained answer with both scores.
CHAINED: Schema = {
    **_ABOUT,
    "variation": pl.String(),
    "trial_id": pl.String(),
    "association": pl.Float64(),
    "decision": pl.Float64(),
}

_GROUPS: Schema = dict.fromkeys(
    (
        *("model", "study", "instrument", "mode", "category", "stereotype"),
        *("marginalized", "default", "version"),
    ),
    pl.String(),
)

#: The columns the report reads of single responses and scores; the second few may be absent.
_RESPONSES = ("model", "mode", "stereotype", "variation", "trial_id", "prompt", "response")
_OF_RESPONSES: Schema = dict.fromkeys(("intervention", "system", "profile"), pl.String())
_SCORES = (*_GROUPS, "trial_id", "score", "reason", "coverage")
_OF_SCORES: Schema = {
    **dict.fromkeys(("intervention", "version", "span"), pl.String()),
    "margin": pl.Float64(),
    "conflict": pl.Boolean(),
}

#: Factors no table pools over, named beside the mode where there are several of one.
_BESIDE = ("intervention", "word_list", "scoring")


@dataclass(frozen=True)
class Results:
    """A results directory; the frames of single responses stay on disk."""

    directory: Path
    plan: Plan
    estimates: pl.DataFrame
    words: pl.DataFrame
    compliance: pl.DataFrame
    yes_shares: pl.DataFrame
    regressions: pl.DataFrame
    contrasts: pl.DataFrame
    chained: pl.LazyFrame | None
    responses: pl.LazyFrame | None
    scores: pl.LazyFrame | None


def read_results(directory: str | Path) -> Results:
    """Read a results directory.

    Parameters
    ----------
    directory
        Holds ``plan.json`` and ``estimates.parquet``; where there are any, also ``responses``,
        ``scores``, ``words``, ``compliance``, ``yes_shares``, ``chained``, ``regressions`` and
        ``contrasts``, all ``.parquet``.

    Returns
    -------
    Results
        Small tables in memory, those of single responses as scans. In each the mode names
        what else sets rows apart: ``"free, egalitarian"``.

    Raises
    ------
    InputError
        If the plan or the estimates are missing, or any of them is malformed.
    """
    path = Path(directory)
    plan = read_plan(path / "plan.json")
    if not (path / "estimates.parquet").is_file():
        raise InputError(f"{path / 'estimates.parquet'}: not found; estimate the scores first")
    estimates = _table(path / "estimates.parquet", ESTIMATES)
    apart = [c for c in _BESIDE if estimates[c].drop_nulls().n_unique() > 1]
    confidences = estimates["confidence"].drop_nulls().unique().sort()
    shown = " or ".join(f"{100 * value:g}%" for value in confidences) or "95%"
    scores = _scan(path / "scores.parquet", _SCORES, _OF_SCORES)
    return Results(
        directory=path,
        plan=replace(plan, interval=f"{shown} interval"),
        estimates=_never_pooled(estimates, apart),
        words=_never_pooled(_table(path / "words.parquet", WORDS), apart),
        compliance=_compliance(path / "compliance.parquet", scores, apart),
        yes_shares=_never_pooled(_table(path / "yes_shares.parquet", YES_SHARES), apart),
        regressions=_never_pooled(
            _table(path / "regressions.parquet", {**_ASKED, **REGRESSIONS}), apart
        ),
        contrasts=_never_pooled(_table(path / "contrasts.parquet", CONTRASTS), apart),
        chained=_chained(path / "chained.parquet", apart),
        responses=_scan(path / "responses.parquet", _RESPONSES, _OF_RESPONSES),
        scores=scores,
    )


def _never_pooled(frame: pl.DataFrame, apart: Sequence[str]) -> pl.DataFrame:
    """Name intervention, word list and scoring beside the mode where there are several."""
    beside = [name for name in apart if name in frame.columns]
    return frame.with_columns(_mode_and(beside)) if beside else frame


def _mode_and(beside: Sequence[str]) -> pl.Expr:
    named = [pl.when(pl.col(name) != "none").then(name) for name in beside]
    return pl.concat_str(["mode", *named], separator=", ", ignore_nulls=True).alias("mode")


def _compliance(path: Path, scores: pl.LazyFrame | None, apart: Sequence[str]) -> pl.DataFrame:
    """Count responses by reason per stereotype, pair of group words and version."""
    counts = [f"n_{reason}" for reason in REASONS]
    keys = list(_GROUPS)
    if path.is_file():
        frame = _parquet(path)
        if {"model", "mode", "stereotype", "n", "n_scored", *counts} <= set(frame.columns):
            frame = _never_pooled(_with(frame.lazy(), _GROUPS).collect(), apart)
            return frame.group_by(keys).agg(pl.col("n", "n_scored", *counts).sum()).sort(keys)
    if scores is None:
        numbers = dict.fromkeys(["n", "n_scored", *counts], pl.Int64())
        return pl.DataFrame(schema={**_GROUPS, **numbers})
    beside = [name for name in apart if name in scores.collect_schema().names()]
    reasons = [(pl.col("reason") == reason).sum().alias(f"n_{reason}") for reason in REASONS]
    tally = (
        (scores.with_columns(_mode_and(beside)) if beside else scores)
        .group_by(keys)
        .agg(pl.len().alias("n"), pl.col("score").count().alias("n_scored"), *reasons)
    )
    tally = tally.with_columns(pl.col("n", "n_scored", *counts).cast(pl.Int64))
    return tally.sort(keys).collect(engine="streaming")


def _chained(path: Path, apart: Sequence[str]) -> pl.LazyFrame | None:
    frame = _scan(path, tuple(CHAINED), {})
    if frame is None:
        return None
    frame = frame.select(pl.col(c).cast(t, strict=False) for c, t in CHAINED.items())
    return frame.with_columns(_mode_and(["intervention"])) if "intervention" in apart else frame


def _table(path: Path, schema: Schema) -> pl.DataFrame:
    """Read a small table; an absent one is empty, what is no finite number is null."""
    if not path.is_file():
        return pl.DataFrame(schema=schema)
    numbers = cs.float()
    finite = pl.when(numbers.is_finite()).then(numbers).name.keep()
    return check(_parquet(path), schema, path.name).with_columns(finite)


def _parquet(path: Path) -> pl.DataFrame:
    try:
        return pl.read_parquet(path)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(f"{path}: not a parquet table: {str(error).splitlines()[0]}") from None


def _scan(path: Path, columns: Sequence[str], others: Schema) -> pl.LazyFrame | None:
    """Scan a long table with `columns`; of `others`, those absent are null."""
    if not path.is_file():
        return None
    try:
        frame = pl.scan_parquet(path)
        names = set(frame.collect_schema().names())
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(f"{path}: not a parquet table: {str(error).splitlines()[0]}") from None
    missing = [name for name in columns if name not in names and name not in others]
    if missing:
        raise InputError(f"{path}: missing column {', '.join(missing)}")
    return _with(frame, others)


def _with(frame: pl.LazyFrame, schema: Schema) -> pl.LazyFrame:
    """Add the columns that are absent, as nulls."""
    names = frame.collect_schema().names()
    return frame.with_columns(
        pl.lit(None, kind).alias(name) for name, kind in schema.items() if name not in names
    )
