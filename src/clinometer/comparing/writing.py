"""A comparison as a directory: ``comparison.json``, the differences, the answers behind them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from clinometer import __version__
from clinometer.comparing.comparison import Comparison
from clinometer.comparing.deciding import Level
from clinometer.comparing.ranking import rank
from clinometer.comparing.runs import ComparedRun
from clinometer.directory.results import read_detail, write_results
from clinometer.errors import PlanError
from clinometer.results import CONDITIONS, check
from clinometer.results.bundles import unpacked
from clinometer.results.ranges import rows_of_range
from clinometer.results.records import write_plan
from clinometer.results.schemas import ANSWER_PAIRS

__all__ = ["FACTS", "check_folder", "write_comparison"]

#: What is compared, and the verdicts.
FACTS = "comparison.json"

#: Answers shown of each stereotype that changed.
ANSWERS_PER_STEREOTYPE = 2

_LEVELS = ("stereotype", "category", "model")
_TRIAL = ("trial_id", "study", "instrument", "mode", *CONDITIONS, "dimension")


def write_comparison(
    comparison: Comparison, directory: str | Path, level: Level = "category"
) -> Path:
    """Write a comparison; `report.write_report` makes the page.

    Parameters
    ----------
    comparison
        From `compare`.
    directory
        A new or empty folder, or that of an earlier comparison, which is replaced.
    level
        What its decisions are about; see `Comparison.decisions`.

    Returns
    -------
    pathlib.Path
        The directory.

    Raises
    ------
    PlanError
        If the directory holds other files.
    InputError
        If a file cannot be written, or a bundle that was compared is not there any more.
    """
    path = Path(directory)
    check_folder(path)
    runs = [comparison.baseline, *comparison.candidates]
    run_means = pl.concat([_run_means(comparison, run) for run in runs])
    estimates = pl.concat([comparison.estimates, run_means]).with_columns(
        family=pl.lit("comparison")
    )
    pairs = pl.concat([pl.DataFrame(schema=ANSWER_PAIRS), *_answer_pairs(comparison)])
    facts = _facts(comparison, level)
    write_plan(path / FACTS, {**facts, "complete": False})
    details = {"compared": comparison.matches, "answer_pairs": pairs}
    write_results(path, "comparison", estimates, details)
    write_plan(path / FACTS, facts)
    return path


def check_folder(path: Path) -> None:
    """Raise PlanError if a folder holds other files than those of a comparison."""
    if path.exists() and not (path / FACTS).is_file() and (path.is_file() or any(path.iterdir())):
        raise PlanError(f"{path}: not empty, and not a comparison; name another folder")


def _facts(comparison: Comparison, level: Level) -> dict[str, Any]:
    baseline, *candidates = (
        {"label": run.label, "model": run.model, "source": Path(run.source).name}
        for run in (comparison.baseline, *comparison.candidates)
    )
    return {
        "clinometer": __version__,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "margin": comparison.margin,
        "baseline": baseline,
        "candidates": candidates,
        "decisions": [
            {
                "candidate": decision.candidate,
                "verdict": decision.verdict,
                "text": decision.text(),
                "matched": comparison.matched(decision.candidate),
                "changed": comparison.changed(decision.candidate),
            }
            for decision in comparison.decisions(level)
        ],
        "ranks": rank(comparison).to_dicts() if comparison.candidates[1:] else [],
        "complete": True,
    }


def _run_means(comparison: Comparison, run: ComparedRun) -> pl.DataFrame:
    """Return the means of a run by itself, under its label."""
    means = comparison.own[run.label].filter(
        pl.col("factor").is_null() & pl.col("tost_margin").is_not_null(),
        pl.col("level").is_in(_LEVELS),
    )
    means = rows_of_range(means, "prompts")
    return means.with_columns(model=pl.lit(run.label), subject=pl.lit(run.label))


def _answer_pairs(comparison: Comparison) -> Iterator[pl.DataFrame]:
    """Yield, of each stereotype that changed, the trials whose answers moved most that way.

    Where only categories changed, of their stereotypes that moved most.
    """
    ours = comparison.baseline
    for theirs in comparison.candidates:
        changed = _changed_stereotypes(comparison, theirs.label)
        if changed.is_empty() or ours.directory is None or theirs.directory is None:
            continue
        keys = [*_TRIAL[1:], "stereotype"]
        direction = changed.select(*keys, way=pl.col("estimate").sign())
        columns = [*_TRIAL, "stereotype", "category", "variation", "order", "marginalized"]
        columns += ["default", "score"]
        first, second = (run.scores.select(columns) for run in (ours, theirs))
        theirs_scores = second.select(*_TRIAL, candidate_score="score")
        pairs = first.join(theirs_scores, on=_TRIAL, nulls_equal=True)
        pairs = pairs.join(direction, on=keys, nulls_equal=True)
        moved = (pl.col("candidate_score") - pl.col("score")) * pl.col("way")
        sampled = (
            pairs.with_columns(moved=moved)
            .filter(pl.col("moved") > 0)
            .sort("moved", "trial_id", descending=[True, False])
            .group_by(keys, maintain_order=True)
            .head(ANSWERS_PER_STEREOTYPE)
        )
        yield _add_answers(sampled, ours, theirs)


def _changed_stereotypes(comparison: Comparison, candidate: str) -> pl.DataFrame:
    """Return the stereotypes whose answers are shown: rows of differences."""
    changes = comparison.changes(candidate).filter(matched_by="trial")
    stereotypes = changes.filter(level="stereotype")
    if not stereotypes.is_empty():
        return stereotypes
    keys = [*_TRIAL[1:], "category"]
    within = rows_of_range(comparison.estimates, "prompts").filter(
        pl.col("measure") == pl.col("instrument"), level="stereotype", candidate=candidate
    )
    within = within.join(changes.select(*keys), on=keys, how="semi", nulls_equal=True)
    return within.sort(pl.col("estimate").abs(), descending=True, maintain_order=True).head(3)


def _add_answers(trials: pl.DataFrame, ours: ComparedRun, theirs: ComparedRun) -> pl.DataFrame:
    """Add prompt and answers to trials."""
    texts = []
    for run, name in ((ours, "baseline"), (theirs, "candidate")):
        assert run.directory is not None
        with unpacked(run.directory) as directory:
            responses = read_detail(directory, "responses").filter(model=run.model)
        answer = pl.col("response").alias(f"{name}_response")
        prompts = ("system", "prompt") if name == "baseline" else ()
        texts.append(
            responses.select("trial_id", *prompts, answer).unique("trial_id", keep="first")
        )
    pairs = trials.join(texts[0], on="trial_id", maintain_order="left")
    pairs = pairs.join(texts[1], on="trial_id", maintain_order="left")
    labelled = pairs.rename({"score": "baseline_score"}).with_columns(
        baseline=pl.lit(ours.label), candidate=pl.lit(theirs.label), model=pl.lit(theirs.label)
    )
    return check(labelled, ANSWER_PAIRS, "answer_pairs")
