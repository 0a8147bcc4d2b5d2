"""What a results directory holds, read with suspicion.

A table that is read gets three columns: ``mode``, the name a reader sees ("forced, Competence,
egalitarian"); ``control_mode``, the same without the dimension, as controls have none; and
``plain_mode``, the mode alone.

Every text in it is untrusted. Only the plan and the estimates must be there; a table that is
absent leaves its section out, a malformed one is named in an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from tiltmeter.report.plan import Plan, read_plan
from tiltmeter.report.prose import interval_title
from tiltmeter.results import REASONS, RESPONSES, SCORES, Schema, beside
from tiltmeter.results.directory import read_detail, read_estimates
from tiltmeter.results.estimates import KEYS
from tiltmeter.results.schemas import ORDERS
from tiltmeter.results.tables import scan_table

__all__ = ["Results", "read_results"]

#: What compliance is counted by.
_GROUPS = (
    *("model", "study", "instrument", "mode", "category", "stereotype", "dimension"),
    *("marginalized", "default", "version"),
)

#: What tells the effects of order apart.
_ORDER = [name for name in ORDERS if name in ("level", *_GROUPS, "intervention", "variation")]

#: What the papers' test says, beside the clustered one.
_PUBLISHED = {"published": ("se", "statistic", "df", "p")}


@dataclass(frozen=True)
class Results:
    """A results directory; the frames of single responses stay on disk.

    Frames of estimates have a row per estimate: the columns of ESTIMATES as the clustered method
    gives them, what the published one says as ``p_published`` and so on.
    """

    directory: Path
    plan: Plan
    estimates: pl.DataFrame  # of scores, with the effect of order
    contrasts: pl.DataFrame  # between interventions, with the change of compliance
    attribution_contrasts: pl.DataFrame  # between the groups thought of
    regressions: pl.DataFrame  # coefficients of all methods, with their fits
    correlations: pl.DataFrame  # between dimensions, with Spearman's
    ranks: pl.DataFrame  # with the means that are ranked
    words: pl.DataFrame
    compliance: pl.DataFrame
    yes_shares: pl.DataFrame
    attributions: pl.DataFrame
    chained: pl.LazyFrame | None
    responses: pl.LazyFrame | None
    scores: pl.LazyFrame | None

    def of(self, study: str, instrument: str) -> Results:
        """Narrow the tables, but for the estimates, to one study and instrument."""
        keys = {"study": study, "instrument": instrument}
        kept = ("directory", "plan", "estimates", "chained", "responses", "scores")
        narrowed = {
            name: frame.filter((pl.col(c) == key).fill_null(True) for c, key in keys.items())
            for name, frame in vars(self).items()
            if name not in kept
        }
        return replace(self, **narrowed)


#: Factors named beside the mode where there are several of one.
_BESIDE = ("intervention", "word_list", "scoring")


def apart_from(estimates: pl.DataFrame) -> list[str]:
    """Give the factors to name beside the mode: those with several values.

    Parameters
    ----------
    estimates
        Columns of ESTIMATES.

    Returns
    -------
    list of str
    """
    return [name for name in _BESIDE if estimates[name].drop_nulls().n_unique() > 1]


def named(frame: pl.DataFrame, apart: Sequence[str], plan: Plan) -> pl.DataFrame:
    """Name beside the mode what sets rows apart, and the dimension where there is one.

    Parameters
    ----------
    frame
        A table with ``mode``.
    apart
        What `apart_from` gave; columns that are absent are left out.
    plan
        For the labels of dimensions, by study.

    Returns
    -------
    polars.DataFrame
        With ``mode``, ``control_mode`` and ``plain_mode`` as above.
    """
    factors = [
        pl.when(pl.col(name) != "none").then(name) for name in apart if name in frame.columns
    ]
    dimension = pl.lit(None, pl.String)
    if "dimension" in frame.columns:
        frame, dimension = _labelled(frame, plan), pl.col("dimension_label")
    return frame.with_columns(
        _joined("mode", dimension, *factors),
        _joined("mode", *factors).alias("control_mode"),
        plain_mode="mode",
    ).drop("dimension_label", strict=False)


def _joined(*names: str | pl.Expr) -> pl.Expr:
    return pl.concat_str(names, separator=", ", ignore_nulls=True).alias("mode")


def _labelled(frame: pl.DataFrame, plan: Plan) -> pl.DataFrame:
    pairs = frame.select("study", "dimension").unique().drop_nulls("dimension")
    labels = [plan.of(study).dimension(key) for study, key in pairs.iter_rows()]
    known = pairs.with_columns(pl.Series("dimension_label", labels, pl.String))
    return frame.join(
        known, on=["study", "dimension"], how="left", nulls_equal=True, maintain_order="left"
    )


def read_results(directory: str | Path) -> Results:
    """Read a results directory.

    Parameters
    ----------
    directory
        Holds ``plan.json`` and ``estimates.parquet``; where there are any, also ``responses``,
        ``scores`` and the details behind the estimates, all ``.parquet``.

    Returns
    -------
    Results
        Small tables in memory, those of single responses as scans. In each the mode names
        what else sets rows apart, see above.

    Raises
    ------
    InputError
        If the plan or the estimates are missing, or any of them is malformed.
    """
    path = Path(directory)
    plan = read_plan(path / "plan.json")
    rows = read_estimates(path).filter(family="answers")
    estimates = _with_order(_scores(rows), read_detail(path, "orders"))
    apart = apart_from(estimates)
    tables = {
        "estimates": estimates,
        "contrasts": _contrasts(rows.filter(factor="intervention")),
        "attribution_contrasts": _clustered(rows.filter(factor="version")),
        "regressions": _regressions(rows, read_detail(path, "fits")),
        "correlations": _correlations(rows),
        "ranks": _ranks(rows, estimates),
        "words": read_detail(path, "words"),
        "compliance": _compliance(read_detail(path, "compliance"), apart),
        "yes_shares": read_detail(path, "yes_shares"),
        "attributions": read_detail(path, "attributions"),
    }
    return Results(
        directory=path,
        plan=replace(plan, interval=interval_title(estimates)),
        **{name: named(table, apart, plan) for name, table in tables.items()},
        chained=_chained(path, apart),
        responses=_scan(path / "responses.parquet", RESPONSES),
        scores=_scan(path / "scores.parquet", SCORES),
    )


def _clustered(rows: pl.DataFrame) -> pl.DataFrame:
    """Set the published test beside the clustered one; the change of compliance is left out."""
    return beside(rows.filter(pl.col("measure") != "compliance"), "clustered", _PUBLISHED)


def _scores(rows: pl.DataFrame) -> pl.DataFrame:
    """Keep the estimates of scores: those with a margin of equivalence."""
    own = rows.filter(pl.col("factor").is_null())
    measures = own.drop_nulls("tost_margin")["measure"].unique().implode()
    return _clustered(own.filter(pl.col("measure").is_in(measures)))


def _with_order(estimates: pl.DataFrame, orders: pl.DataFrame) -> pl.DataFrame:
    keys = [*_ORDER, "word_list", "scoring"]
    effects = orders.select(
        *keys, "order_effect", "first_share", order_low="ci_low", order_high="ci_high"
    )
    return estimates.join(effects, on=keys, how="left", nulls_equal=True, maintain_order="left")


def _contrasts(rows: pl.DataFrame) -> pl.DataFrame:
    """Set the change of compliance beside the difference."""
    differences = _clustered(rows)
    keys = [name for name in KEYS if name != "measure"]
    changes = rows.filter(measure="compliance", method="clustered").select(
        *keys,
        compliance_change="estimate",
        compliance_low="ci_low",
        compliance_high="ci_high",
    )
    return differences.join(changes, on=keys, how="left", nulls_equal=True, maintain_order="left")


def _regressions(rows: pl.DataFrame, fits: pl.DataFrame) -> pl.DataFrame:
    """Set the fits beside the coefficients."""
    keys = ["model", "study", "instrument", "mode", "intervention", "predictor",
            "response_variable", "formula", "part", "method"]  # fmt: skip
    of_fits = fits.select(*keys, *(c for c in fits.columns if c not in rows.columns))
    coefficients = rows.filter(measure="log_odds")
    return coefficients.join(of_fits, on=keys, how="left", nulls_equal=True, maintain_order="left")


def _correlations(rows: pl.DataFrame) -> pl.DataFrame:
    keys = [name for name in KEYS if name != "measure"]
    ranks = rows.filter(measure="rank_correlation").select(*keys, spearman="estimate")
    correlations = rows.filter(measure="correlation")
    return correlations.join(ranks, on=keys, how="left", nulls_equal=True, maintain_order="left")


def _ranks(rows: pl.DataFrame, estimates: pl.DataFrame) -> pl.DataFrame:
    """Set the means that are ranked beside the ranks."""
    keys = ["model", "level", "study", "instrument", "mode", "intervention", "word_list", "scoring",
            "dimension"]  # fmt: skip
    means = estimates.select(*keys, mean="estimate", mean_low="ci_low", mean_high="ci_high")
    of_models = rows.filter(measure="rank")
    return of_models.join(means, on=keys, how="left", nulls_equal=True, maintain_order="left")


def _compliance(frame: pl.DataFrame, apart: Sequence[str]) -> pl.DataFrame:
    """Count responses by reason per stereotype, dimension, pair of group words and version."""
    keys = [*_GROUPS, *apart]
    counts = ("n", "n_scored", *(f"n_{reason}" for reason in REASONS))
    return frame.group_by(keys).agg(pl.col(counts).sum()).sort(keys)


def _chained(directory: Path, apart: Sequence[str]) -> pl.LazyFrame | None:
    frame = read_detail(directory, "chained")
    if frame.is_empty():
        return None
    if "intervention" not in apart:
        return frame.lazy()
    prompted = pl.when(pl.col("intervention") != "none").then("intervention")
    mode = pl.concat_str("mode", prompted, separator=", ", ignore_nulls=True)
    return frame.lazy().with_columns(mode=mode)


def _scan(path: Path, schema: Schema) -> pl.LazyFrame | None:
    return scan_table(path, schema) if path.is_file() else None
