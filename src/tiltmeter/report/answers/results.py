"""What a results directory holds, read with suspicion.

Every text in it is untrusted. Only the plan and the estimates must be there; a table that is
absent leaves its section out, a malformed one is named in an error.

How answers were asked for has one name: the mode, and beside it what no table pools over. A table
that is read gets three columns: ``mode``, the name a reader sees ("forced, Competence,
egalitarian"); ``control_mode``, the same without the dimension, as controls have none; and
``plain_mode``, the mode alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl
import polars.selectors as cs

from tiltmeter.errors import InputError
from tiltmeter.report.plan import Plan, read_plan
from tiltmeter.report.prose import interval_title
from tiltmeter.results import ESTIMATES, LATER, REASONS, WORDS, Schema, check
from tiltmeter.statistics.contrasts import CONTRASTS
from tiltmeter.statistics.dimensions import CORRELATIONS, DIMENSION_TESTS, RANKS
from tiltmeter.statistics.logistic import REGRESSIONS

__all__ = ["ATTRIBUTIONS", "ATTRIBUTION_CONTRASTS", "CHAINED", "Results", "TABLES", "YES_SHARES",
           "beside", "named", "read_results", "read_table", "unnamed"]  # fmt: skip

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

#: What descriptions of a neutral object were called, per group that was thought of.
ATTRIBUTIONS: Schema = {
    "level": pl.String(),
    **_ABOUT,
    "group": pl.String(),
    **dict.fromkeys(("n", "n_read", "n_refused"), pl.Int64()),
    **dict.fromkeys(("n_comedy", "n_tragedy", "n_neutral"), pl.Float64()),
    **dict.fromkeys(("comedy_share", "tragedy_share", "neutral_share"), pl.Float64()),
    **dict.fromkeys(("far", "uar", "first_share"), pl.Float64()),
}

#: The difference default − marginalized of a share.
ATTRIBUTION_CONTRASTS: Schema = {"share": pl.String(), "pairing": pl.String(), **CONTRASTS}

_GROUPS: Schema = dict.fromkeys(
    (
        *("model", "study", "instrument", "mode", "category", "stereotype", "dimension"),
        *("marginalized", "default", "version"),
    ),
    pl.String(),
)

#: The columns the report reads of single responses and scores; the second few may be absent.
_RESPONSES = (
    *("model", "study", "mode", "stereotype", "variation", "trial_id", "prompt", "response"),
)
_OF_RESPONSES: Schema = dict.fromkeys(
    ("intervention", "system", "profile", "followup"), pl.String()
)
_SCORES = (*_GROUPS, "trial_id", "score", "reason", "coverage")
_OF_SCORES: Schema = {
    **dict.fromkeys(("intervention", "version", "span", *LATER), pl.String()),
    "margin": pl.Float64(),
    "conflict": pl.Boolean(),
}


#: The tables that may be absent, by the names of their files.
TABLES: Mapping[str, Schema] = {
    "words": WORDS,
    "yes_shares": YES_SHARES,
    "regressions": {**_ASKED, **REGRESSIONS},
    "contrasts": CONTRASTS,
    "dimension_tests": DIMENSION_TESTS,
    "dimension_correlations": CORRELATIONS,
    "ranks": RANKS,
    "attributions": ATTRIBUTIONS,
    "attribution_contrasts": ATTRIBUTION_CONTRASTS,
}

#: The instrument of tables about one alone, which they do not name.
_OF_ONE = {
    "yes_shares": "absolute_decision",
    "regressions": "chained_decision",
    "attributions": "affective_attribution",
    "attribution_contrasts": "affective_attribution",
}


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
    dimension_tests: pl.DataFrame
    dimension_correlations: pl.DataFrame
    ranks: pl.DataFrame
    attributions: pl.DataFrame
    attribution_contrasts: pl.DataFrame
    chained: pl.LazyFrame | None
    responses: pl.LazyFrame | None
    scores: pl.LazyFrame | None

    def of(self, study: str, instrument: str) -> Results:
        """Narrow the tables, but for the estimates, to one study and instrument."""
        keys = {"study": study, "instrument": instrument}
        narrowed: dict[str, Any] = {
            name: _of(getattr(self, name), keys) for name in ("compliance", *TABLES)
        }
        others = [name for name, of in _OF_ONE.items() if of != instrument]
        return replace(self, **narrowed | {name: narrowed[name].clear() for name in others})


def _of(frame: pl.DataFrame, keys: Mapping[str, str]) -> pl.DataFrame:
    """Keep the rows with these values, or with none where a table does not say."""
    return frame.filter(
        (pl.col(name) == key).fill_null(True) for name, key in keys.items() if name in frame.columns
    )


def read_results(directory: str | Path) -> Results:
    """Read a results directory.

    `directory`: holds ``plan.json`` and ``estimates.parquet``; where there are any, also
        ``responses``, ``scores``, ``chained``, ``compliance`` and the tables of `TABLES`, all
        ``.parquet``.
    Result: small tables in memory, those of single responses as scans. In each the mode names what
        else sets rows apart, see above.
    Raises InputError if the plan or the estimates are missing, or any of them is malformed.
    """
    path = Path(directory)
    plan = read_plan(path / "plan.json")
    if not (path / "estimates.parquet").is_file():
        raise InputError(f"{path / 'estimates.parquet'}: not found; estimate the scores first")
    estimates = read_table(path / "estimates.parquet", ESTIMATES)
    apart = beside(estimates)
    scores = _scan(path / "scores.parquet", _SCORES, _OF_SCORES)
    tables = {name: read_table(path / f"{name}.parquet", schema) for name, schema in TABLES.items()}
    return Results(
        directory=path,
        plan=replace(plan, interval=interval_title(estimates)),
        estimates=named(estimates, apart, plan),
        compliance=named(_compliance(path / "compliance.parquet", scores, apart), apart, plan),
        **{name: named(table, apart, plan) for name, table in tables.items()},
        chained=_chained(path / "chained.parquet", apart),
        responses=_scan(path / "responses.parquet", _RESPONSES, _OF_RESPONSES),
        scores=scores,
    )


def _compliance(path: Path, scores: pl.LazyFrame | None, apart: Sequence[str]) -> pl.DataFrame:
    """Count responses by reason per stereotype, dimension, pair of group words and version."""
    counts = [f"n_{reason}" for reason in REASONS]
    if path.is_file():
        frame = _parquet(path)
        if {"model", "mode", "stereotype", "n", "n_scored", *counts} <= set(frame.columns):
            frame = _with(frame.lazy(), _GROUPS).collect()
            keys = [*_GROUPS, *(name for name in apart if name in frame.columns)]
            return frame.group_by(keys).agg(pl.col("n", "n_scored", *counts).sum()).sort(keys)
    if scores is None:
        numbers = dict.fromkeys(["n", "n_scored", *counts], pl.Int64())
        return pl.DataFrame(schema={**_GROUPS, **numbers})
    held = scores.collect_schema().names()
    keys = [*_GROUPS, *(name for name in apart if name in held)]
    reasons = [(pl.col("reason") == reason).sum().alias(f"n_{reason}") for reason in REASONS]
    tally = scores.group_by(keys).agg(
        pl.len().alias("n"), pl.col("score").count().alias("n_scored"), *reasons
    )
    tally = tally.with_columns(pl.col("n", "n_scored", *counts).cast(pl.Int64))
    return tally.sort(keys).collect(engine="streaming")


def _chained(path: Path, apart: Sequence[str]) -> pl.LazyFrame | None:
    frame = _scan(path, tuple(CHAINED), {})
    if frame is None:
        return None
    frame = frame.select(pl.col(c).cast(t, strict=False) for c, t in CHAINED.items())
    if "intervention" not in apart:
        return frame
    told = pl.when(pl.col("intervention") != "none").then("intervention")
    return frame.with_columns(mode=pl.concat_str("mode", told, separator=", ", ignore_nulls=True))


def read_table(path: Path, schema: Schema) -> pl.DataFrame:
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


#: Factors named beside the mode where there are several of one.
_BESIDE = ("intervention", "word_list", "scoring")


def beside(estimates: pl.DataFrame) -> list[str]:
    """Give the factors to name beside the mode: those with several values.

    `estimates`: columns of ESTIMATES.
    """
    return [name for name in _BESIDE if estimates[name].drop_nulls().n_unique() > 1]


def named(frame: pl.DataFrame, apart: Sequence[str], plan: Plan) -> pl.DataFrame:
    """Name beside the mode what sets rows apart, and the dimension where there is one.

    `frame`: a table with ``mode``.
    `apart`: what `beside` gave; columns that are absent are left out.
    Result: with ``mode``, ``control_mode`` and ``plain_mode`` as above.
    """
    factors = [
        pl.when(pl.col(name) != "none").then(name) for name in apart if name in frame.columns
    ]
    dimension = pl.lit(None, pl.String)
    if "dimension" in frame.columns:
        frame, dimension = _labelled(frame, plan), pl.col("dimension_label")
    return frame.with_columns(
        _names("mode", dimension, *factors),
        _names("mode", *factors).alias("control_mode"),
        plain_mode="mode",
    ).drop("dimension_label", strict=False)


def unnamed(frame: pl.DataFrame) -> pl.DataFrame:
    """Give a table as it was read, with the mode alone."""
    if "plain_mode" not in frame.columns:
        return frame
    return frame.with_columns(mode="plain_mode").drop("plain_mode", "control_mode")


def _names(*names: str | pl.Expr) -> pl.Expr:
    return pl.concat_str(names, separator=", ", ignore_nulls=True).alias("mode")


def _labelled(frame: pl.DataFrame, plan: Plan) -> pl.DataFrame:
    pairs = frame.select("study", "dimension").unique().drop_nulls("dimension")
    labels = [plan.of(study).dimension(key) for study, key in pairs.iter_rows()]
    known = pairs.with_columns(pl.Series("dimension_label", labels, pl.String))
    return frame.join(
        known, on=["study", "dimension"], how="left", nulls_equal=True, maintain_order="left"
    )
