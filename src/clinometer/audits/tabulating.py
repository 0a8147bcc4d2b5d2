"""The tables of a results directory: responses, scores, words, compliance, estimates.

Every table is a function of the plan and the journal and can be remade without asking a model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from clinometer.asking.plan import Plan, load_plan
from clinometer.asking.sessions import JUDGE, by_study, verdicts
from clinometer.audits import Tables
from clinometer.audits.analyses import analyse, estimate_reliabilities
from clinometer.audits.conditions import contrast_conditions
from clinometer.directory.results import write_results
from clinometer.errors import InputError
from clinometer.instruments.catalogue import INSTRUMENTS, measure_of
from clinometer.modes.mode import encodable
from clinometer.results import (
    COMPLIANCE,
    ESTIMATES,
    LEVELS,
    ORDERS,
    RESPONSES,
    SCORES,
    TRIALS,
    WORDS,
    check,
)
from clinometer.results.columns import with_codes, without_texts
from clinometer.results.judging import judge
from clinometer.results.locks import writing
from clinometer.results.places import anywhere
from clinometer.results.progress import doubtful
from clinometer.results.records import Journal, read_plan
from clinometer.results.schemas import ITEMS, PROGRESS
from clinometer.results.tables import as_frame, pieces, scan_table, write_pieces
from clinometer.scoring import Scores, score
from clinometer.statistics.contrasts import DRAWN, TRIAL
from clinometer.statistics.dimensions import correlate_dimensions, rank_models
from clinometer.statistics.estimates import Estimated, Inference, estimate_summaries
from clinometer.statistics.explicitness import explicit_gaps
from clinometer.statistics.items import ITEMS_BY, contributions, word_variance
from clinometer.statistics.splits import split_words
from clinometer.statistics.summaries import (
    COUNTED_BY,
    compliance,
    pool_pairs,
    refuse_split,
    summarise,
)
from clinometer.stimuli import Study

__all__ = [
    "ModelAnswers",
    "collect_responses",
    "estimate",
    "estimate_means",
    "estimate_scores",
    "score_responses",
    "tabulate",
    "tabulate_scores",
]


def collect_responses(plan: Plan, directory: Path) -> pl.DataFrame:
    """Write ``responses.parquet``: a row per model and trial that was answered or failed.

    Returns columns `schemas.PROGRESS`. Raises InputError if there is no such row, or a line of the
    journal was changed; nothing is replaced.
    """
    rows: list[tuple[str, int, int, int, int, str]] = []

    def parts() -> Iterator[pl.DataFrame]:
        for model in plan.models:
            answers, asked, done, failed = ModelAnswers(directory, model), 0, 0, 0
            for trials in plan.pieces():
                part = answers.join(trials)
                asked += trials.height
                failed += part["error"].count()
                done += part["error"].null_count()
                yield part
            served = sorted(answers.served)
            rows.append((model, asked, done, failed, len(served), ", ".join(served)))
        if not any(done or failed for _, _, done, failed, *_ in rows):
            raise InputError(f"{directory}: no answers; nothing was replaced")

    write_pieces(parts(), directory / "responses.parquet")
    return pl.DataFrame(rows, schema=PROGRESS, orient="row")


class ModelAnswers:
    """The answers of a model in a directory, of which only their places are in memory."""

    def __init__(self, directory: Path, model: str) -> None:
        self._journal = Journal(directory, model)
        self._places = self._journal.places()
        self.served = set[str]()
        """Names that the answers read so far give of the model that answered."""

    def join(self, trials: pl.DataFrame) -> pl.DataFrame:
        """Return the trials that have an answer or an error; columns of `results.RESPONSES`."""
        schema = {name: RESPONSES[name] for name in ("trial_id", *_ANSWER)}
        places = [self._places[trial] for trial in trials["trial_id"] if trial in self._places]
        rows = []
        for answer in self._journal.read(places):
            rows.append({name: _kept(answer.get(name), kind) for name, kind in schema.items()})
            self.served |= {str(answer["served"])} if answer.get("served") else set()
        answers = pl.DataFrame(rows, schema=schema)
        joined = trials.join(answers, on="trial_id", how="inner", maintain_order="left")
        return check(joined.with_columns(model=pl.lit(self._journal.model)), RESPONSES, "responses")


def _kept(value: object, kind: pl.DataType) -> str | int | None:
    """Return a value of a journal that fits its column; None for any other."""
    if kind == pl.String:
        return encodable(value) if isinstance(value, str) else None
    return value if type(value) is int and 0 <= value < 1 << 63 else None


_ANSWER = tuple(name for name in RESPONSES if name not in ("model", *TRIALS))


def score_responses(
    responses: Path, studies: dict[str, Study], out: Path, **options: Any
) -> pl.DataFrame:
    """Score responses in chunks into `out`; return the words (`results.WORDS`).

    `responses` is a table (see `scoring.score`, which takes the `options`), an inspect
    log, or a folder of logs; with one study it needs no `study` column. Raises as `score`.
    """
    tally = pl.DataFrame(schema=WORDS)

    def scored() -> Iterator[pl.DataFrame]:
        nonlocal tally
        answers = start = 0
        for piece in _together(response_pieces(responses), options.get("instrument")):
            for study, part in by_study(piece, studies):
                scores, words = score(part, study, start=start, **options)
                start += part.height
                tally = _add_words(tally, words)
                answers += scores.height
                yield scores
        if not answers:
            raise InputError(f"{responses}: no answers")

    write_pieces(scored(), out)
    return tally


def _together(parts: Iterator[pl.DataFrame], named: str | None) -> Iterator[pl.DataFrame]:
    """Join the pieces that hold answers of instruments whose scores need two trials."""
    needing = [name for name, one in INSTRUMENTS.items() if one.beside is not None]
    held = []
    for piece in parts:
        several = "instrument" in piece.columns
        asked = pl.col("instrument") if several else pl.repeat(named, pl.len(), dtype=pl.String)
        needs = asked.replace("", named).fill_null(named or "").is_in(needing)
        own = piece.filter(needs)
        held += [own] if own.height else []
        if own.height < piece.height or not piece.height:
            yield piece.filter(~needs)
    if held:
        yield pl.concat(held, how="diagonal_relaxed")


def response_pieces(responses: Path) -> Iterator[pl.DataFrame]:
    """Yield recorded answers in chunks, from a table or from inspect logs."""
    if responses.is_dir() or responses.suffix == ".eval":
        from clinometer.asking.trials import read_logs

        return read_logs(responses)
    return pieces(responses)


def _add_words(tally: pl.DataFrame, words: pl.DataFrame) -> pl.DataFrame:
    """Add the words of a chunk to those of earlier ones."""
    keys = [name for name in WORDS if name not in ("n", "share")]
    return (
        pl.concat([tally, words])
        .group_by(keys, maintain_order=True)
        .agg(share=(pl.col("share") * pl.col("n")).sum() / pl.col("n").sum(), n=pl.col("n").sum())
        .select(list(WORDS))
    )


@anywhere(scores=False)
def estimate(scores: object, inference: Inference | None = None) -> pl.DataFrame:
    """Estimate from scores of any instruments and models.

    Parameters
    ----------
    scores
        Output of `score`, or columns of `results.SCORES`: a polars or pandas frame, or the path of
        a table.
    inference
        Margin, confidence, compliance floor and clusters; by default those of `Inference`.

    Returns
    -------
    polars.DataFrame
        Columns of `results.ESTIMATES`; see `estimate_scores`.

    Raises
    ------
    InputError
        If a column is missing, a score has neither value nor reason, or lies outside its range.

    Examples
    --------
    >>> estimates = estimate("scores.parquet")  # doctest: +SKIP
    >>> estimates.filter(level="model", method="clustered")  # doctest: +SKIP
    """
    if isinstance(scores, Scores):
        scores = scores.scores
    if isinstance(scores, str | Path):
        return estimate_scores(Path(scores), inference).estimates
    frame = check(as_frame(scores, "scores"), SCORES, "scores")
    return estimate_scores(frame.lazy(), inference).estimates


def estimate_scores(
    scores: Path | pl.LazyFrame,
    inference: Inference | None = None,
    doubts: Mapping[str, str] | None = None,
) -> Tables:
    """Estimate from a table of scores, one model in memory at a time.

    Estimates means at every level, differences between conditions, correlations between dimensions,
    ranks of models, reliability, and what instruments make of their scores besides. Detail tables
    without rows are left out. `doubts` are those of `judge`. Raises InputError if the table is
    missing or malformed.
    """
    inference = inference or Inference()
    frame = scores if isinstance(scores, pl.LazyFrame) else scan_table(scores, SCORES)
    every_score, frame = frame, frame.filter(~pl.col("unnamed").fill_null(False))
    of_scores, tables = _of_scores(frame, inference)
    if of_scores.is_empty():
        raise InputError(f"{scores if isinstance(scores, Path) else 'scores'}: no rows")
    scores_only = without_texts(frame.select(list(SCORES)))
    conditions = contrast_conditions(scores_only)
    analyses = analyse(every_score.select(list(SCORES)))
    estimates = [
        of_scores,
        conditions.estimates,
        correlate_dimensions(of_scores),
        rank_models(of_scores),
        explicit_gaps(of_scores, inference.confidence),
        estimate_reliabilities(scores_only),
        analyses.estimates,
    ]
    judged = judge(pl.concat(estimates), compliance_floor=inference.compliance_floor, doubts=doubts)
    matches = pl.concat([conditions.matches, analyses.details["matches"]])
    tables = {**tables, **analyses.details, "matches": matches}
    return Tables(judged, {name: one for name, one in tables.items() if not one.is_empty()})


def estimate_means(scores: pl.DataFrame, inference: Inference) -> pl.DataFrame:
    """Estimate the means of a model's stereotypes, categories and all, and judge them.

    They are those of `estimate_scores`, without what that has besides. Raises InputError if scores
    of one draw stand several times.
    """
    _refuse_repeated(scores)
    estimates = pl.concat(
        estimate_summaries(summarise(part), measure_of(name), inference, MEANS).estimates
        for (name,), part in scores.group_by("instrument", maintain_order=True)
    )
    return judge(estimates, compliance_floor=inference.compliance_floor)


def _of_scores(frame: pl.LazyFrame, inference: Inference) -> Tables:
    """Estimate the scores of each model, then of all; with items, order effects and compliance."""
    models = frame.select(pl.col("model").unique().sort()).collect()["model"]
    of_each = [
        _of_model(frame.filter(pl.col("model").eq_missing(pl.lit(model))), inference)
        for model in models
    ]
    parts = [estimated for one in of_each for estimated in one.parts]
    if len(of_each) > 1:
        pooled = pl.concat(one.pooled for one in of_each)
        parts += _of_each_instrument(pooled, inference, LEVELS[-1:])
    empty = (pl.DataFrame(schema=ESTIMATES), pl.DataFrame(schema=ORDERS))
    order = pl.col("level").cast(pl.Enum(LEVELS))
    estimates, orders = (
        pl.concat(tables).sort(order, maintain_order=True)
        for tables in zip(empty, *parts, strict=True)
    )
    items = pl.concat([pl.DataFrame(schema=ITEMS), *(one.items for one in of_each)])
    counts = pl.concat([pl.DataFrame(schema=COMPLIANCE), *(one.compliance for one in of_each)])
    return Tables(estimates, {"items": items, "orders": orders, "compliance": counts})


class _OfModel(NamedTuple):
    """What is kept of the scores of a model."""

    parts: list[Estimated]
    pooled: pl.DataFrame
    items: pl.DataFrame
    compliance: pl.DataFrame


def _of_model(scores: pl.LazyFrame, inference: Inference) -> _OfModel:
    """Estimate the scores of a model, whole stereotypes in memory at a time."""
    reduced = [_reduced(part) for part in _parts(scores)]
    units, items, counts = (pl.concat(tables) for tables in zip(*reduced, strict=True))
    del reduced
    refuse_split(units)
    units = units.drop("unit")
    parts = _of_each_instrument(units, inference, LEVELS[:-1], word_variance(items))
    return _OfModel(parts, pool_pairs(units), items.sort(ITEMS_BY), counts.sort(COUNTED_BY))


def _parts(scores: pl.LazyFrame) -> Iterator[pl.DataFrame]:
    """Yield the scores of a model, whole stereotypes, about `PIECE` in memory at a time."""
    counted = scores.group_by("stereotype").len().sort("stereotype").collect()
    number = pl.col("len").cum_sum() // PIECE
    for _, part in counted.with_columns(number=number).group_by("number", maintain_order=True):
        chosen = pl.col("stereotype").is_in(part["stereotype"].implode(), nulls_equal=True)
        yield scores.filter(chosen).collect()


def _reduced(scores: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Reduce scores to pairs, items and compliance."""
    _refuse_repeated(scores)
    return with_codes(summarise(scores), "unit"), contributions(scores), compliance(scores)


#: Levels of means that are judged, but for cells.
MEANS = ("stereotype", "category", "model")

#: Scores in memory at a time; of one stereotype there may be more.
PIECE = 50_000

#: What tells scores apart.
_APART = (*TRIAL, *DRAWN, "pair_id", "object")


def _refuse_repeated(scores: pl.DataFrame) -> None:
    """Refuse scores of one draw that stand several times."""
    twice = scores.filter(pl.struct(_APART).is_duplicated())
    if not twice.is_empty():
        first = twice.row(0, named=True)
        raise InputError(
            f"scores: {twice.height:,} of {scores.height:,} repeat others (first: "
            f"{first['stereotype']}, {first['variation']}, iteration {first['iteration']} of "
            f"{first['model']}); leave out what stands twice, or number draws apart"
        )


def _of_each_instrument(
    units: pl.DataFrame,
    inference: Inference,
    levels: Sequence[str],
    words: pl.DataFrame | None = None,
) -> list[Estimated]:
    """Estimate each instrument separately, with its own measure, placebos beside."""
    estimates = []
    for name in units["instrument"].cast(pl.String).unique(maintain_order=True):
        part, measure = units.filter(pl.col("instrument") == name), measure_of(name)
        own = None if words is None else words.filter(instrument=name)
        found = estimate_summaries(part, measure, inference, levels, own)
        placebos = split_words(part, found.estimates)
        estimates.append(Estimated(pl.concat([found.estimates, placebos]), found.orders))
    return estimates


def tabulate(directory: Path, scoring: str = "exact") -> None:
    """Remake every table of a results directory from its plan and journal, or recorded answers.

    Raises PlanError if the directory holds no plan, or one of its study files was changed.
    """
    with writing(directory):
        _tabulate(directory, scoring)


def _tabulate(directory: Path, scoring: str) -> None:
    plan = load_plan(directory)
    studies = {s.study.name: s.study for s in plan.selections}
    progress = None
    if read_plan(plan.file(directory)).get("recorded") is None:
        progress = collect_responses(plan, directory)
    words = score_responses(
        directory / "responses.parquet",
        studies,
        directory / "scores.parquet",
        scoring=scoring,
        judged=verdicts(directory / JUDGE),
    )
    tabulate_scores(directory, plan, words, progress)


def tabulate_scores(
    directory: Path, plan: Plan, words: pl.DataFrame, progress: pl.DataFrame | None = None
) -> None:
    """Make the tables that follow from the scores of a results directory."""
    known = {} if progress is None else {"progress": progress}
    inference = Inference(margin=plan.margin, compliance_floor=plan.compliance_floor)
    doubts = {} if progress is None else doubtful(progress)
    estimates, tables = estimate_scores(directory / "scores.parquet", inference, doubts)
    write_results(directory, "answers", estimates, {"words": words, **known, **tables})
