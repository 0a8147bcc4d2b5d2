"""The tables of a results directory: responses, scores, words, compliance, estimates.

Every table is a function of the plan and the journal and can be remade without asking a model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import polars as pl

from clinometer.asking.plan import Plan, load_plan
from clinometer.asking.sessions import JUDGE, by_study, verdicts
from clinometer.audits.analyses import analyse, estimate_reliabilities
from clinometer.audits.conditions import contrast_conditions
from clinometer.audits.looking import looks_of
from clinometer.contracts.catalogue import INSTRUMENTS, measure_of
from clinometer.directory.results import write_results
from clinometer.errors import InputError, NoAnswerError
from clinometer.results import LEVELS, NO_ESTIMATES, RESPONSES, SCORES, TRIALS, WORDS, check
from clinometer.results.columns import with_codes, without_texts
from clinometer.results.judging import judge
from clinometer.results.locks import writing
from clinometer.results.origins import elsewhere_counts, elsewhere_text
from clinometer.results.places import anywhere
from clinometer.results.progress import doubtful
from clinometer.results.records import Journal, plan_origin, read_plan
from clinometer.results.schemas import PROGRESS, Tables
from clinometer.results.tables import as_frame, pieces, scan_table, write_pieces
from clinometer.scoring import Scores, score
from clinometer.scoring.conditions import find_conditions, with_conditions
from clinometer.scoring.recorded import rename_columns, used_columns
from clinometer.statistics.contrasts import DRAW_COLUMNS, TRIAL
from clinometer.statistics.dimensions import correlate_dimensions, rank_models
from clinometer.statistics.estimates import Estimated, Inference, estimate_summaries
from clinometer.statistics.explicitness import explicit_gaps
from clinometer.statistics.items import ITEM_KEYS, contributions
from clinometer.statistics.pages import adjust_means
from clinometer.statistics.splits import split_words
from clinometer.statistics.summaries import (
    COMPLIANCE_KEYS,
    compliance,
    pool_pairs,
    refuse_split,
    summarise,
)
from clinometer.stimuli import Study
from clinometer.texts import encodable


def collect_responses(plan: Plan, directory: Path) -> pl.DataFrame:
    """Write ``responses.parquet``: a row per model and trial that was answered or failed.

    Returns columns `schemas.PROGRESS`. Raises NoAnswerError if no trial has an answer, InputError
    if a line of the journal was changed; nothing is replaced.
    """
    progress: list[dict[str, Any]] = []
    key_id = plan_origin(plan.file(directory))

    def join_trials() -> Iterator[pl.DataFrame]:
        """Yield the responses of each model piece by piece, and note its progress."""
        n_answers = 0
        for model in plan.models:
            answers = ModelAnswers(directory, model)
            n_trials = n_answered = n_failed = 0
            for trials in plan.pieces():
                responses = answers.join(trials)
                n_trials += trials.height
                n_failed += responses["error"].count()
                n_answered += responses["error"].null_count()
                yield responses
            counts = {"n_trials": n_trials, "n_answered": n_answered, "n_error": n_failed}
            progress.append({"model": model, **counts, **answers.origin(key_id)})
            n_answers += n_answered
        # Raised while the pieces are written: the file takes its name only afterwards.
        if not n_answers:
            raise NoAnswerError(
                f"{directory}: no trial has an answer; nothing was replaced, and the command of "
                "the run continues it"
            )

    write_pieces(join_trials(), directory / "responses.parquet")
    return pl.DataFrame(progress, schema=PROGRESS)


class ModelAnswers:
    """The answers of a model in a directory, of which only their places are in memory."""

    def __init__(self, directory: Path, model: str) -> None:
        self._journal = Journal(directory, model)
        self._places = self._journal.places()
        self.served = set[str]()
        """Names that the answers read so far give of the model that answered."""

    def origin(self, key_id: str) -> dict[str, Any]:
        """Say who answered what was read so far, and what is not of a key: columns of `PROGRESS`.

        As the lines say it, so that the table is the same for readers who cannot check that.
        """
        claims = self._journal.origins.claims
        return {
            "n_served": len(self.served),
            "served_as": ", ".join(sorted(self.served)),
            "n_elsewhere": sum(elsewhere_counts(claims, key_id).values()),
            "elsewhere": elsewhere_text(claims, 0, key_id) or None,
        }

    def join(self, trials: pl.DataFrame) -> pl.DataFrame:
        """Return the trials that have an answer or an error; columns of `results.RESPONSES`."""
        schema = {name: RESPONSES[name] for name in ("trial_id", *_ANSWER)}
        places = [self._places[trial] for trial in trials["trial_id"] if trial in self._places]
        rows = []
        for answer in self._journal.read(places):
            rows.append({name: _fit(answer.get(name), kind) for name, kind in schema.items()})
            if served := _fit(answer.get("served"), pl.String()):
                self.served.add(str(served))
        answers = pl.DataFrame(rows, schema=schema)
        responses = trials.join(answers, on="trial_id", how="inner", maintain_order="left")
        responses = responses.with_columns(model=pl.lit(self._journal.model))
        return check(responses, RESPONSES, "responses")


def _fit(value: object, kind: pl.DataType) -> str | int | None:
    """Return a value of a journal that fits its column; None for any other."""
    if kind == pl.String:
        return encodable(value) if isinstance(value, str) else None
    # Not `isinstance`: True is no number here. Larger ones do not fit 64 bits.
    return value if type(value) is int and 0 <= value < 1 << 63 else None


#: The columns of responses that the answer gives, not the trial.
_ANSWER = tuple(name for name in RESPONSES if name not in ("model", *TRIALS))


def score_responses(
    responses: Path,
    studies: dict[str, Study],
    out: Path,
    *,
    conditions: Sequence[str] = (),
    **options: Any,
) -> pl.DataFrame:
    """Score responses in chunks into `out`; return the words (`results.WORDS`).

    `responses` is a table (see `scoring.score`, which takes the `options`), an inspect
    log, or a folder of logs; with one study it needs no `study` column. `conditions` are columns
    of a table (`conditions_of_responses`). Raises as `score`.
    """
    word_counts = pl.DataFrame(schema=WORDS)

    def score_pieces() -> Iterator[pl.DataFrame]:
        """Yield the scores piece by piece, and count the words."""
        nonlocal word_counts
        n_scores = start = 0
        pieces_to_score = _join_paired(response_pieces(responses), options.get("instrument"))
        for piece in pieces_to_score:
            piece = with_conditions(piece, conditions)
            for study, part in by_study(piece, studies):
                # Answers without an `iteration` are numbered over all pieces.
                scores, words = score(part, study, start=start, **options)
                start += part.height
                word_counts = _add_words(word_counts, words)
                n_scores += scores.height
                yield scores
        if not n_scores:
            raise InputError(f"{responses}: no answers")

    write_pieces(score_pieces(), out)
    return word_counts


def _join_paired(parts: Iterator[pl.DataFrame], default: str | None) -> Iterator[pl.DataFrame]:
    """Join the pieces that hold answers of instruments whose scores need two trials.

    `default` is the instrument of answers that name none. The joined ones come last.
    """
    paired = [name for name, instrument in INSTRUMENTS.items() if instrument.beside is not None]
    paired_pieces = []
    for piece in parts:
        names = pl.repeat(default, pl.len(), dtype=pl.String)
        if "instrument" in piece.columns:
            names = pl.col("instrument")
        is_paired = names.replace("", default).fill_null(default or "").is_in(paired)
        paired_piece = piece.filter(is_paired)
        if paired_piece.height:
            paired_pieces.append(paired_piece)
        # Empty pieces too: they have the columns of a table without rows.
        if paired_piece.height < piece.height or not piece.height:
            yield piece.filter(~is_paired)
    if paired_pieces:
        yield pl.concat(paired_pieces, how="diagonal_relaxed")


def conditions_of_responses(
    responses: Path, study: Study, instrument: str, condition_columns: Sequence[str] = ()
) -> tuple[str, ...]:
    """Find the columns of conditions in a table of responses; see `find_conditions`.

    Logs have none: what was asked under is known of them.
    """
    if _are_logs(responses):
        return ()
    renamed = (rename_columns(piece, instrument, study) for piece in pieces(responses))
    return find_conditions(renamed, condition_columns, partial(used_columns, study=study))


def response_pieces(responses: Path) -> Iterator[pl.DataFrame]:
    """Yield recorded answers in chunks, from a table or from inspect logs."""
    if _are_logs(responses):
        from clinometer.asking.trials import read_logs

        return read_logs(responses)
    return pieces(responses, placed=True)


def _are_logs(responses: Path) -> bool:
    return responses.is_dir() or responses.suffix == ".eval"


def _add_words(word_counts: pl.DataFrame, words: pl.DataFrame) -> pl.DataFrame:
    """Add the words of a chunk to those of earlier ones."""
    keys = [name for name in WORDS if name not in ("n", "share")]
    n = pl.col("n")
    return (
        pl.concat([word_counts, words])
        .group_by(keys, maintain_order=True)
        .agg(share=(pl.col("share") * n).sum() / n.sum(), n=n.sum())
        .select(list(WORDS))
    )


@anywhere(scores=False)
def estimate(
    scores: object, inference: Inference | None = None, conditions: Sequence[str] = ()
) -> pl.DataFrame:
    """Estimate from scores of any instruments and models.

    Parameters
    ----------
    scores
        Output of `score`, or columns of `results.SCORES`: a polars or pandas frame, or the path of
        a table.
    inference
        Margin, confidence, compliance floor and clusters; by default those of `Inference`.
    conditions
        Columns by whose values means are taken; ``("none",)``: by none. By default those that
        `scoring.conditions` finds, which a warning names.

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
    table = Path(scores) if isinstance(scores, str | Path) else as_frame(scores, "scores")
    return estimate_scores(read_scores(table, conditions), inference).estimates


def read_scores(scores: Path | pl.DataFrame, condition_columns: Sequence[str] = ()) -> pl.LazyFrame:
    """Read scores, columns `results.SCORES`, with the conditions of other columns.

    `condition_columns` are those of `find_conditions`. Raises InputError if a column is missing.
    """
    if isinstance(scores, pl.DataFrame):
        conditions = find_conditions([scores], condition_columns, used_columns)
        return check(with_conditions(scores, conditions), SCORES, "scores").lazy()
    conditions = find_conditions(pieces(scores), condition_columns, used_columns)
    if not conditions:
        return scan_table(scores, SCORES)
    frame = scan_table(scores, {**SCORES, **dict.fromkeys(conditions, pl.String())}).collect()
    return with_conditions(frame, conditions).select(list(SCORES)).lazy()


def estimate_scores(
    scores: Path | pl.LazyFrame,
    inference: Inference | None = None,
    doubts: Mapping[str, str] | None = None,
    studies: Mapping[str, Study] = MappingProxyType({}),
) -> Tables:
    """Estimate from a table of scores, one model in memory at a time.

    Estimates means at every level, differences between conditions, correlations between dimensions,
    ranks of models, reliability, and what instruments make of their scores besides. Detail tables
    without rows are left out. `doubts` are those of `judge`, `studies` those of `analyse`. Raises
    InputError if the table is missing or malformed.
    """
    inference = inference or Inference()
    all_scores = scores if isinstance(scores, pl.LazyFrame) else scan_table(scores, SCORES)
    # Prompts that name no group are a baseline: in no mean, but in the analyses.
    frame = all_scores.filter(~pl.col("unnamed").fill_null(False))
    means, tables = _estimate_models(frame, inference)
    if means.is_empty():
        raise InputError(f"{scores if isinstance(scores, Path) else 'scores'}: no rows")
    # Texts take most of the memory, and none of these reads them.
    scores_only = without_texts(frame.select(list(SCORES)))
    conditions = contrast_conditions(scores_only)
    analyses = analyse(all_scores.select(list(SCORES)), studies)
    estimates = [
        means,
        conditions.estimates,
        correlate_dimensions(means),
        rank_models(means),
        explicit_gaps(means, inference.confidence),
        estimate_reliabilities(scores_only),
        analyses.estimates,
    ]
    all_estimates = adjust_means(pl.concat(estimates), inference.confidence, inference.looks)
    all_estimates = _with_constructs(all_estimates, all_scores)
    judged = judge(all_estimates, compliance_floor=inference.compliance_floor, doubts=doubts)
    matches = pl.concat([conditions.matches, analyses.details["matches"]])
    tables = {**tables, **analyses.details, "matches": matches}
    details = {name: table for name, table in tables.items() if not table.is_empty()}
    return Tables(judged, details)


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
    all_estimates = adjust_means(estimates, inference.confidence, inference.looks)
    all_estimates = _with_constructs(all_estimates, scores.lazy())
    return judge(all_estimates, compliance_floor=inference.compliance_floor)


def _with_constructs(estimates: pl.DataFrame, scores: pl.LazyFrame) -> pl.DataFrame:
    """Add what the attributes of stereotypes differ in, as scores state it."""
    keys = ["study", "stereotype", "dimension"]
    construct_scores = scores.filter(pl.col("construct").is_not_null())
    constructs = construct_scores.select(*keys, "construct").unique(keys).collect()
    labelled_estimates = estimates.drop("construct").join(
        constructs, on=keys, how="left", nulls_equal=True, maintain_order="left"
    )
    return labelled_estimates.select(estimates.columns)


def _estimate_models(frame: pl.LazyFrame, inference: Inference) -> Tables:
    """Estimate the scores of each model, then of all; with items, order effects and compliance."""
    estimates, orders, pairs, items, compliances = [], [], [], [], []
    models = frame.select(pl.col("model").unique().sort()).collect()["model"].to_list()
    for model in models:
        model_scores = frame.filter(pl.col("model").eq_missing(pl.lit(model)))
        tables = _estimate_model(model_scores, inference, alone=len(models) == 1)
        estimates.append(tables.estimates)
        orders.append(tables.orders)
        if tables.pairs is not None:
            pairs.append(tables.pairs)
        items.append(tables.items)
        compliances.append(tables.compliance)
    if not models:
        return Tables(NO_ESTIMATES, {})
    if pairs:
        overall = _estimate_instruments(pl.concat(pairs), inference, LEVELS[-1:])
        estimates.append(overall.estimates)
        orders.append(overall.orders)
    # From cells to all models; within a level in the order of models and instruments.
    level = pl.col("level").cast(pl.Enum(LEVELS))
    return Tables(
        pl.concat(estimates).sort(level, maintain_order=True),
        {
            "items": pl.concat(items),
            "orders": pl.concat(orders).sort(level, maintain_order=True),
            "compliance": pl.concat(compliances),
        },
    )


class _ModelTables(NamedTuple):
    """What is kept of the scores of a model."""

    estimates: pl.DataFrame
    orders: pl.DataFrame
    pairs: pl.DataFrame | None  # for means over models; none of a model alone
    items: pl.DataFrame
    compliance: pl.DataFrame


def _estimate_model(scores: pl.LazyFrame, inference: Inference, *, alone: bool) -> _ModelTables:
    """Estimate the scores of a model, `alone` or of several; whole stereotypes at a time."""
    reductions = [_reduce(part) for part in _split_stereotypes(scores)]
    units, items, counts = (pl.concat(tables) for tables in zip(*reductions, strict=True))
    del reductions  # they take as much memory as the tables
    refuse_split(units)
    units = units.drop("unit")
    estimated = _estimate_instruments(units, inference, LEVELS[:-1])
    return _ModelTables(
        estimated.estimates,
        estimated.orders,
        None if alone else pool_pairs(units),
        items.sort(ITEM_KEYS),
        counts.sort(COMPLIANCE_KEYS),
    )


def _split_stereotypes(scores: pl.LazyFrame) -> Iterator[pl.DataFrame]:
    """Yield the scores of a model, whole stereotypes, about `PIECE` in memory at a time."""
    counts = scores.group_by("stereotype").len().sort("stereotype").collect()
    number = pl.col("len").cum_sum() // PIECE
    for _, part in counts.with_columns(number=number).group_by("number", maintain_order=True):
        in_part = pl.col("stereotype").is_in(part["stereotype"].implode(), nulls_equal=True)
        yield scores.filter(in_part).collect()


def _reduce(scores: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Reduce scores to pairs, items and compliance."""
    _refuse_repeated(scores)
    return with_codes(summarise(scores), "unit"), contributions(scores), compliance(scores)


#: Levels of means that are judged, but for cells.
MEANS = ("stereotype", "category", "model")

#: Scores in memory at a time; of one stereotype there may be more.
PIECE = 50_000

#: What tells scores apart.
_SCORE_KEYS = (*TRIAL, *DRAW_COLUMNS, "pair_id", "object")


def _refuse_repeated(scores: pl.DataFrame) -> None:
    """Refuse scores of one draw that stand several times."""
    repeated = scores.filter(pl.struct(_SCORE_KEYS).is_duplicated())
    if not repeated.is_empty():
        first = repeated.row(0, named=True)
        raise InputError(
            f"scores: {repeated.height:,} of {scores.height:,} repeat others (first: "
            f"{first['stereotype']}, {first['variation']}, iteration {first['iteration']} of "
            f"{first['model']}); leave out what stands twice, or number draws apart"
        )


def _estimate_instruments(
    units: pl.DataFrame, inference: Inference, levels: Sequence[str]
) -> Estimated:
    """Estimate each instrument separately, with its own measure, placebos beside."""
    estimates, orders = [], []
    for name in units["instrument"].cast(pl.String).unique(maintain_order=True):
        part = units.filter(pl.col("instrument") == name)
        measure = measure_of(name)
        estimated = estimate_summaries(part, measure, inference, levels)
        estimates.append(estimated.estimates)
        if measure.directed:
            estimates.append(split_words(part, estimated.estimates))
        orders.append(estimated.orders)
    return Estimated(pl.concat(estimates), pl.concat(orders))


def tabulate(directory: Path, scoring: str = "exact") -> None:
    """Remake every table of a results directory from its plan and journal, or recorded answers.

    Raises PlanError if the directory holds no plan, or one of its study files was changed.
    """
    with writing(directory):
        _tabulate(directory, scoring)


def _tabulate(directory: Path, scoring: str) -> None:
    plan = load_plan(directory)
    studies = {selection.study.name: selection.study for selection in plan.selections}
    progress = None
    # Recorded answers are in the table already; there is no journal of them.
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
    looks = looks_of(plan.looks, plan.stage)
    inference = Inference(plan.margin, compliance_floor=plan.compliance_floor, looks=looks)
    doubts = {} if progress is None else doubtful(progress)
    studies = {selection.study.name: selection.study for selection in plan.selections}
    scores = directory / "scores.parquet"
    estimates, tables = estimate_scores(scores, inference, doubts, studies)
    details = {"words": words, **tables}
    if progress is not None:
        details["progress"] = progress
    write_results(directory, "answers", estimates, details)
