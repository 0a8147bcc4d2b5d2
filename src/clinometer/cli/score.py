"""``clinometer score``: score recorded answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clinometer.cli.options import CONDITION, FILE, MODEL, SCORING, TABLE, command
from clinometer.cli.output import echo
from clinometer.numbers import number

if TYPE_CHECKING:
    import polars as pl

    from clinometer.stimuli import Study


@command("score")
@click.option(
    "--study",
    metavar="NAME|FILE",
    help="Study that the answers are about.  [default: that of the instrument]",
)
@click.option(
    "--instrument",
    default="word_association",
    metavar="NAME",
    help="Instrument that was asked; clinometer list names them.",
)
@click.option(
    "--responses",
    required=True,
    type=FILE,
    help="A .csv or .parquet table with the columns model, stereotype, variation, iteration, "
    "response; or an inspect log; or a folder of these logs.",
)
@SCORING
@CONDITION
@click.option("--out", required=True, type=TABLE, help="Scores, as .csv or .parquet.")
@click.option("--words", type=TABLE, help="Also write how often each word was given to each group.")
@click.option(
    "--grader",
    type=MODEL,
    metavar="MODEL",
    help="Model that reads decisions which the rules cannot read or find conflicting. Its "
    "readings are saved beside the scores and not asked for again.",
)
@click.option("--judge-all", is_flag=True, help="Let the --grader read every decision.")
@click.option(
    "--model", metavar="NAME", help="Model that answered, if the table has no such column."
)
def score_command(
    study: str | None,
    responses: Path,
    out: Path,
    words: Path | None,
    conditions: tuple[str, ...],
    grader: str | None,
    **options: Any,
) -> None:
    """Score answers that were recorded elsewhere; no model is asked, except a --grader.

    Group words are taken from the columns marginalized and default, or inferred from the answer
    if these are missing. Decisions may be in the columns profile and decision. Other columns are
    copied to the output; one of conditions also gives its values to the column intervention, and
    is named first.
    """
    from clinometer.asking.sessions import verdicts
    from clinometer.audits.tabulating import conditions_of_responses, score_responses
    from clinometer.contracts.catalogue import instrument as find_instrument
    from clinometer.contracts.catalogue import select
    from clinometer.results.tables import write_table
    from clinometer.stimuli import load_study

    instrument = options["instrument"]
    loaded = load_study(study or find_instrument(instrument).study)
    select(loaded, instrument)  # refuses a study that the instrument cannot ask
    studies = {loaded.name: loaded}
    readings = out.with_name(f"{out.name}.judge")
    if grader is not None:
        _ask_grader(grader, responses, studies, readings, options)
    columns = conditions_of_responses(responses, loaded, instrument, conditions)
    word_counts = score_responses(
        *(responses, studies, out),
        conditions=columns,
        judged=verdicts(readings),
        keep=True,
        **options,
    )
    if words is not None:
        write_table(word_counts, words)
    _say_scores(out)


def _ask_grader(
    grader: str,
    responses: Path,
    studies: dict[str, Study],
    readings: Path,
    options: dict[str, Any],
) -> None:
    """Let a model read decisions; its readings are kept in the folder `readings`."""
    from clinometer.asking.budget import Budget
    from clinometer.asking.sessions import ask_judge
    from clinometer.audits.running import open_judge
    from clinometer.audits.tabulating import response_pieces
    from clinometer.models.opening import Connection

    judge = open_judge(grader, Connection())
    pieces = response_pieces(responses)
    answers = (_fill_names(piece, options["instrument"], options["model"]) for piece in pieces)
    ask_judge(answers, studies, judge, readings, Budget(), judge_all=options["judge_all"])


def _say_scores(path: Path) -> None:
    """Print the mean of each model and instrument, and how many answers have a score."""
    import polars as pl

    from clinometer.contracts.catalogue import measure_of
    from clinometer.results import CONDITIONS

    # Read again, and few columns: the scores of large tables are never in memory together.
    parquet = path.suffix == ".parquet"
    table = pl.scan_parquet(path) if parquet else pl.scan_csv(path, infer_schema=False)
    run = ["model", "instrument", *CONDITIONS]
    scores = table.select(*run, "score", "reason").collect()
    lines = []
    for (model, measure, *conditions), part in scores.group_by(run, maintain_order=True):
        neutral = measure_of(measure).neutral
        mean = part.select(pl.col("score").cast(pl.Float64).mean()).item()
        mean_text = "no score" if mean is None else f"mean {number(mean)} (neutral {neutral:g})"
        stated = (condition for condition in conditions if condition not in (None, "", "none"))
        condition_text = "".join(f", {condition}" for condition in stated)
        lines.append(f"{model}, {measure}{condition_text}: {mean_text}; {_counts_text(part)}")
    if len(lines) != 1:
        lines.append(_counts_text(scores))
    for line in lines[:-1]:
        echo(line)
    echo(f"{lines[-1]}: {path}")


def _counts_text(scores: pl.DataFrame) -> str:
    """Count answers, scores and the reasons for having none."""
    reasons = scores["reason"].drop_nulls().value_counts(sort=True).sort("count", "reason").rows()
    texts = [f", {count} {reason}" for reason, count in reversed(reasons)]  # the most first
    return f"{scores.height:,} answers, {scores['score'].count():,} scored{''.join(texts)}"


def _fill_names(piece: pl.DataFrame, instrument: str, model: str | None) -> pl.DataFrame:
    """Add the columns instrument and model if the table lacks them."""
    import polars as pl

    if "instrument" not in piece:
        piece = piece.with_columns(instrument=pl.lit(instrument))
    if model is not None and not {"model", "llm"} & set(piece.columns):  # tables of others: llm
        piece = piece.with_columns(model=pl.lit(model))
    return piece
