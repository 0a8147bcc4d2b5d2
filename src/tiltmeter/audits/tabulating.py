"""The tables of a results directory: responses, scores, words, compliance, estimates.

Every table is a function of the plan and the journal; making them again asks nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import polars as pl

from tiltmeter.asking.directory import load_plan
from tiltmeter.asking.judge import JUDGE, by_study, verdicts
from tiltmeter.asking.plan import Plan
from tiltmeter.audits import content, decisions
from tiltmeter.errors import InputError, unknown
from tiltmeter.instruments.catalogue import MEASURES
from tiltmeter.instruments.scoring import score
from tiltmeter.results import LEVELS, RESPONSES, SCORES, WORDS, check
from tiltmeter.results.records import Journal
from tiltmeter.results.tables import keep_table, pieces, scan_table, write_pieces, write_table
from tiltmeter.statistics import (
    Inference,
    compliance,
    correlate_dimensions,
    dimension_tests,
    estimate_summaries,
    pool_pairs,
    rank_models,
    summarise,
)
from tiltmeter.stimuli import Study

__all__ = [
    "collect_responses",
    "estimate_scores",
    "score_responses",
    "tabulate",
    "write_further_tables",
]


def collect_responses(plan: Plan, directory: Path) -> None:
    """Write ``responses.parquet``: a row per model and answered, or failed, trial.

    Parameters
    ----------
    plan
        The plan the directory belongs to.
    directory
        A results directory.
    """
    trials = plan.trials()

    def models() -> Iterator[pl.DataFrame]:
        for model in plan.models:
            schema = {name: RESPONSES[name] for name in ("trial_id", *_ANSWER)}
            journal = ({k: answer.get(k) for k in schema} for answer in Journal(directory, model))
            answers = pl.DataFrame(list(journal), schema=schema)
            joined = trials.join(answers, on="trial_id", how="inner", maintain_order="left")
            yield check(joined.with_columns(model=pl.lit(model)), RESPONSES, "responses")

    write_pieces(models(), directory / "responses.parquet")


_ANSWER = ("response", "profile", "stop_reason", "input_tokens", "output_tokens", "error")


def score_responses(
    responses: Path, studies: dict[str, Study], out: Path, **options: Any
) -> pl.DataFrame:
    """Score a table of responses piece by piece.

    Parameters
    ----------
    responses
        A ``.csv`` or ``.parquet`` table (see `instruments.scoring.score`), an inspect log, or a
        folder of logs.
    studies
        The studies by name. With one study, the table needs no `study` column.
    out
        Where the scores go; columns of `frames.SCORES`.
    **options
        Of `instruments.scoring.score`: instrument, scoring, judged, keep.

    Returns
    -------
    polars.DataFrame
        Columns of `frames.WORDS`.
    """
    tallies: list[pl.DataFrame] = []

    def scored() -> Iterator[pl.DataFrame]:
        for piece in _numbered(response_pieces(responses)):
            for study, part in by_study(piece, studies):
                scores, words = score(part, study, **options)
                tallies[:] = [_merge([*tallies, words])]
                yield scores

    write_pieces(scored(), out)
    return tallies[0] if tallies else pl.DataFrame(schema=WORDS)


def _numbered(pieces: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """Give responses without an iteration a number, which goes on from piece to piece."""
    start = 0
    for piece in pieces:
        numbers = pl.int_range(start, start + piece.height, eager=True)
        if "iteration" not in piece:
            piece = piece.with_columns(iteration=numbers)
        elif piece["iteration"].dtype.is_integer():
            piece = piece.with_columns(pl.col("iteration").fill_null(numbers))
        yield piece
        start += piece.height


def response_pieces(responses: Path) -> Iterator[pl.DataFrame]:
    """Yield recorded answers in pieces, from a table or from inspect logs."""
    if responses.is_dir() or responses.suffix == ".eval":
        from tiltmeter.asking.logs import read_logs

        return read_logs(responses)
    return pieces(responses)


def _merge(tallies: list[pl.DataFrame]) -> pl.DataFrame:
    """Add up word tables of several pieces."""
    keys = [name for name in WORDS if name not in ("n", "p")]
    return (
        pl.concat(tallies)
        .group_by(keys, maintain_order=True)
        .agg(p=(pl.col("p") * pl.col("n")).sum() / pl.col("n").sum(), n=pl.col("n").sum())
        .select(list(WORDS))
    )


def estimate_scores(
    scores: Path, inference: Inference | None = None
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Estimate from a table of scores, one model in memory at a time.

    Parameters
    ----------
    scores
        A ``.csv`` or ``.parquet`` table with the columns of `frames.SCORES`, of any instruments.
    inference
        Margin, confidence, compliance floor and clusters; by default those of `Inference`.

    Returns
    -------
    estimates, compliance : polars.DataFrame

    Raises
    ------
    InputError
        If the table is missing or malformed.
    """
    frame = scan_table(scores, SCORES)
    models = frame.select(pl.col("model").unique().sort()).collect()["model"]
    rows, pooled, compliant = [], [], []
    for model in models:
        of_model = frame.filter(pl.col("model").eq_missing(pl.lit(model))).collect()
        units = summarise(of_model)
        rows.append(_of_each_instrument(units, inference))
        pooled.append(pool_pairs(units))
        compliant.append(compliance(of_model))
    if not rows:
        raise InputError(f"{scores}: no rows")
    everything = _of_each_instrument(pl.concat(pooled), inference)
    rows.append(everything.filter(pl.col("level") == "overall"))
    order = pl.col("level").cast(pl.Enum(LEVELS))
    return pl.concat(rows).sort(order, maintain_order=True), pl.concat(compliant)


def _of_each_instrument(units: pl.DataFrame, inference: Inference | None) -> pl.DataFrame:
    """Estimate instrument by instrument: each has a measure of its own."""
    rows = []
    for (name,), part in units.group_by("instrument", maintain_order=True):
        if name not in MEASURES:
            raise InputError(f"scores: {unknown('instrument', str(name), MEASURES)}")
        rows.append(estimate_summaries(part, MEASURES[str(name)], inference))
    return pl.concat(rows)


def tabulate(directory: Path, scoring: str = "exact") -> None:
    """Make every table of a results directory anew, from its plan and journal.

    Parameters
    ----------
    directory
        A results directory.
    scoring
        ``"exact"`` or ``"published"``.

    Raises
    ------
    PlanError
        If the directory holds no plan, or one of its study files was changed.
    """
    plan = load_plan(directory)
    studies = {s.study.name: s.study for s in plan.selections}
    collect_responses(plan, directory)
    words = score_responses(
        directory / "responses.parquet",
        studies,
        directory / "scores.parquet",
        scoring=scoring,
        judged=verdicts(directory / JUDGE),
    )
    write_table(words, directory / "words.parquet")
    inference = Inference(margin=plan.margin, compliance_floor=plan.compliance_floor)
    estimates, compliant = estimate_scores(directory / "scores.parquet", inference)
    write_table(estimates, directory / "estimates.parquet")
    write_table(compliant, directory / "compliance.parquet")
    write_further_tables(directory / "scores.parquet", estimates, directory)


def write_further_tables(scores: Path, estimates: pl.DataFrame, directory: Path) -> list[str]:
    """Write every other table that the scores allow; one that would be empty is removed.

    Parameters
    ----------
    scores
        A ``.csv`` or ``.parquet`` table with the columns of `frames.SCORES`.
    estimates
        Those of the scores.
    directory
        Where the tables go, as ``.parquet``.

    Returns
    -------
    list of str
        The names of the tables that were written.
    """
    frame = scan_table(scores, SCORES)
    answers = decisions.chained(frame)
    made: dict[str, Callable[[], pl.DataFrame]] = {
        "yes_shares": lambda: decisions.yes_shares(frame),
        "chained": lambda: answers,
        "regressions": lambda: decisions.regressions(answers),
        "contrasts": lambda: decisions.contrasts(frame.select(list(SCORES))),
        "attributions": lambda: content.attributions(frame),
        "attribution_contrasts": lambda: content.attribution_contrasts(frame),
        "dimension_tests": lambda: dimension_tests(estimates),
        "dimension_correlations": lambda: correlate_dimensions(estimates),
        "ranks": lambda: rank_models(estimates),
    }
    return [
        name for name, make in made.items() if keep_table(make(), directory / f"{name}.parquet")
    ]
