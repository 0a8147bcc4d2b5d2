"""``clinometer score``: score recorded answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clinometer.cli.options import FILE, SCORING, TABLE, command
from clinometer.cli.output import echo

if TYPE_CHECKING:
    import polars as pl

__all__ = ["score_command"]


@command("score")
@click.option(
    "--study", default="bai2025", metavar="NAME|FILE", help="Study that the answers are about."
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
@click.option("--out", required=True, type=TABLE, help="Scores, as .csv or .parquet.")
@click.option("--words", type=TABLE, help="Also write how often each word was given to each group.")
@click.option(
    "--grader",
    metavar="MODEL",
    help="Model that reads decisions which the rules cannot read or find conflicting. Its "
    "readings are saved beside the scores and not asked for again.",
)
@click.option("--judge-all", is_flag=True, help="Let the --grader read every decision.")
@click.option(
    "--model", metavar="NAME", help="Model that answered, if the table has no such column."
)
def score_command(
    study: str, responses: Path, out: Path, words: Path | None, grader: str | None, **options: Any
) -> None:
    """Score answers that were recorded elsewhere; no model is asked, except a --grader.

    Group words are taken from the columns marginalized and default, or inferred from the answer
    if these are missing. Decisions may be in the columns profile and decision. Other columns are
    copied to the output.
    """
    import polars as pl

    from clinometer.asking.budget import Budget
    from clinometer.asking.sessions import ask_judge, verdicts
    from clinometer.audits.running import open_judge
    from clinometer.audits.tabulating import response_pieces, score_responses
    from clinometer.instruments.catalogue import INSTRUMENTS, measure_of, select
    from clinometer.models.opening import Connection
    from clinometer.results.tables import write_table
    from clinometer.stimuli import load_study

    loaded = load_study(study)
    instrument, judge_all = options["instrument"], options["judge_all"]
    select(loaded, instrument)
    studies = {loaded.name: loaded}
    readings = out.with_name(f"{out.name}.judge")
    if grader is not None:
        judge = open_judge(grader, Connection())
        answers = (
            _named(piece, instrument, options["model"]) for piece in response_pieces(responses)
        )
        ask_judge(answers, studies, judge, readings, Budget(), judge_all=judge_all)
    keep = INSTRUMENTS[instrument].recorded.keep
    tally = score_responses(
        responses, studies, out, judged=verdicts(readings), keep=keep, **options
    )
    if words is not None:
        write_table(tally, words)
    parquet = out.suffix == ".parquet"
    table = pl.scan_parquet(out) if parquet else pl.scan_csv(out, infer_schema=False)
    scores = table.select("model", "instrument", "score", "reason").collect()
    said = []
    for (model, measure), part in scores.group_by("model", "instrument", maintain_order=True):
        named = ", ".join(map(str, (model, measure)))
        neutral = measure_of(measure).neutral
        mean = part.select(pl.col("score").cast(pl.Float64).mean()).item()
        found = "no score" if mean is None else f"mean {mean:.2f} (neutral {neutral:g})"
        said.append(f"{named}: {found}; {_counted(part)}")
    if len(said) != 1:
        said.append(_counted(scores))
    for line in said[:-1]:
        echo(line)
    echo(f"{said[-1]}: {out}")


def _counted(scores: pl.DataFrame) -> str:
    """Count answers, scores and the reasons for having none."""
    reasons = scores["reason"].drop_nulls().value_counts(sort=True).sort("count", "reason").rows()
    why = "".join(f", {n} {reason}" for reason, n in reversed(reasons))
    return f"{scores.height:,} answers, {scores['score'].count():,} scored{why}"


def _named(piece: pl.DataFrame, instrument: str, model: str | None) -> pl.DataFrame:
    """Add the columns instrument and model if the table lacks them."""
    import polars as pl

    if "instrument" not in piece:
        piece = piece.with_columns(instrument=pl.lit(instrument))
    if model is not None and not {"model", "llm"} & set(piece.columns):
        piece = piece.with_columns(model=pl.lit(model))
    return piece
