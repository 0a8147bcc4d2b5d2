"""Finds what a reader asks first, in this order.

Is the instrument valid on this model; what leans; how sure is that; the strongest leans, each with
an answer; what changed since the last audit; what this does not show; what to do next.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

import polars as pl

from clinometer.report.answers.analysis import largest_effect
from clinometer.report.answers.brief import FACTORS, NAMED, STRONGEST, InBrief, Lean
from clinometer.report.answers.earlier import changes
from clinometer.report.answers.overview import in_lines as lines_of
from clinometer.report.answers.overview import overview
from clinometer.report.answers.results import (
    AnswerResults,
    InstrumentResults,
    instrument_results,
    read_results,
)
from clinometer.report.answers.validity import judged
from clinometer.report.drawing.charts import Axis, Row
from clinometer.report.drawing.figures import Figure, drawn
from clinometer.report.drawing.intervals import forest
from clinometer.report.markdown import as_line
from clinometer.report.plan import PlanFacts
from clinometer.report.prose import (
    as_argument,
    capital,
    category_title,
    counted,
    cut,
    first_few,
    held_only,
    leaning,
    lowered,
    mean_leans,
    number,
    short_names,
    spoken,
    verdict_counts,
    verdict_kind,
)
from clinometer.results.logprobs import as_asked, in_words
from clinometer.results.progress import unfinished
from clinometer.results.subjects import say_simulated
from clinometer.results.verdicts import POSITIVE_CONTROL

__all__ = ["in_brief", "in_lines"]

#: Characters shown of a prompt and of an answer.
SHOWN = 150

_NOT_SHOWN = (
    "A score describes answers to these prompts: no intent, no decision in use, no other language. "
    "“Inconclusive” does not mean “unbiased”."
)


def in_brief(directory: Path, results: AnswerResults | None = None) -> InBrief | None:
    """Sum up a results directory; None where nothing was asked, or nothing could be estimated.

    Raises InputError if a table is malformed, PlanError if the plan is.
    """
    if results is None:
        if not (directory / "plan.json").is_file():
            return None
        results = read_results(directory)
    each = _by_instrument(results)
    if not each:
        return None
    plan = results.plan
    validity, failed = _validity(each)
    means = sorted(
        _means(each),
        key=lambda lean: (not lean.told, lean.instrument in failed, -abs(lean.strength)),
    )
    return InBrief(
        title=_title(plan, results),
        simulated=say_simulated(sorted(set(results.estimates["model"].drop_nulls()))),
        incomplete=tuple(
            f"{model}: {said}" for model, said in unfinished(results.progress).items()
        ),
        validity=validity,
        leans=tuple(
            _leaning(name, one, means, failed=name in failed) for name, one in each.items()
        ),
        certainty=_certainty(each),
        strongest=tuple(_with_answer(lean, results) for lean in means[:STRONGEST]),
        means=tuple(means),
        changes=tuple(changes(directory, plan, each)),
        limits=_NOT_SHOWN,
        next=tuple(_next(directory, plan, means, failed=bool(failed))),
        figure=_figure(each),
        table=overview(each),
    )


def in_lines(directory: Path) -> tuple[str, ...]:
    """Say what a results directory shows over all, in a few lines; raises as `in_brief`."""
    if not (directory / "plan.json").is_file():
        return ()
    each = _by_instrument(read_results(directory))
    return lines_of(each) if each else ()


def _by_instrument(results: AnswerResults) -> dict[str, InstrumentResults]:
    """Give what was asked and estimated of each instrument, by its name in running text."""
    asked = [one for one in instrument_results(results) if one.each.height]
    return dict(zip(_names(asked), asked, strict=True))


def _title(plan: PlanFacts, results: AnswerResults) -> str:
    """Say who was asked how, in a line."""
    n = results.progress["n_answered"].sum()
    models, modes = _first(plan.models), ", ".join(plan.modes)
    parts = (models, modes, plan.size, f"{n:,} answers" if n else "")
    return " · ".join(filter(None, parts))


def _names(asked: Sequence[InstrumentResults]) -> list[str]:
    """Name instruments in running text; where two studies have one, with the study."""
    names = [spoken(one.instrument, one.measure.title) for one in asked]
    return [
        name if names.count(name) == 1 else f"{name} ({one.study})"
        for name, one in zip(names, asked, strict=True)
    ]


def _shares(asked: InstrumentResults, *values: float | None) -> list[float | None]:
    """Give values as shares of the way from neutral (0) to the end of the scale (1)."""
    half = (asked.measure.high - asked.measure.low) / 2.0
    neutral = asked.measure.neutral
    middle = asked.measure.low + half if neutral is None else neutral
    return [None if value is None else (value - middle) / half for value in values]


def _means(each: Mapping[str, InstrumentResults]) -> Iterator[Lean]:
    """Give the mean of every stereotype."""
    for name, asked in each.items():
        several = _runs(asked) > 1
        for row in asked.each.drop_nulls("estimate").iter_rows(named=True):
            yield Lean(
                about={factor: row[column] for factor, column in FACTORS.items()},
                instrument=name,
                stereotype=asked.plan.label(row["stereotype"]),
                verdict=verdict_kind(row["verdict"]),
                lean=leaning(row["verdict"]),
                mean=row["estimate"],
                low=row["ci_low"],
                high=row["ci_high"],
                strength=_shares(asked, row["estimate"])[0] or 0.0,
                of=f"{row['model']}, {row['mode']}" if several else "",
            )


def _runs(asked: InstrumentResults) -> int:
    return asked.each.select("model", "mode").n_unique()


def _validity(each: Mapping[str, InstrumentResults]) -> tuple[tuple[str, ...], set[str]]:
    """Say which instruments are valid on which models; name those that fail a control on one."""
    said: dict[str, list[str]] = {}
    failed = set()
    for name, asked in each.items():
        found = judged(asked)
        models = short_names(list(dict.fromkeys(model or "" for model, _ in found)))
        for (model, mode), one in found.items():
            where = f"{name} on {models[model or '']} ({mode})" if len(found) > 1 else name
            verdict = f"{one.verdict.capitalize()} here ({one.failed or 'controls passed'})"
            said.setdefault(verdict, []).append(where)
            if one.verdict == "not valid":
                failed.add(name)
    runs = sum(map(len, said.values()))
    lines = (
        f"{verdict}: {_first(where)}"
        if len(where) <= NAMED
        else f"{verdict}: {len(where)} of {runs} instruments, models and modes"
        for verdict, where in said.items()
    )
    return tuple(lines), failed


def _first(names: Sequence[str]) -> str:
    return first_few(names, NAMED)


def _leaning(name: str, asked: InstrumentResults, means: Sequence[Lean], *, failed: bool) -> str:
    """Say of one instrument which stereotypes lean, and by how much all do."""
    keys = {"study": asked.study, "instrument": asked.instrument}
    mine = [lean for lean in means if keys.items() <= lean.about.items()]
    runs = _runs(asked)
    parts = []
    for verdict, how in (("consistent", "as the stereotype says"), ("reversed", "against it")):
        leaning = [lean for lean in mine if lean.verdict == verdict]
        if not leaning:
            continue
        names = list(dict.fromkeys(lean.stereotype for lean in leaning))
        only = held_only(lean.lean for lean in leaning)
        lean = "leans" if len(leaning) == 1 else "lean"
        parts.append(f"{len(leaning)} {lean} {how}{only} ({_first(names)})")
    found = "; ".join(parts) or "none is shown to lean"
    of = counted(len(mine), "mean") if runs > 1 else counted(len(mine), "stereotype")
    of = f"{of} of single stereotypes" if runs > 1 else of
    valid = f" (not valid {'on some models' if runs > 1 else 'here'})" if failed else ""
    first = "; ".join(filter(None, (_overall(asked), lowered(largest_effect(asked)))))
    said = filter(None, (first, f"Of {of}, {found}"))
    return f"{capital(name)}{valid}: {'. '.join(said)}."


def _overall(asked: InstrumentResults) -> str:
    """Say of the mean over all stereotypes whether it leans.

    Of several models and modes: how many means lean, and the ends of their range.
    """
    rows = asked.whole.drop_nulls("estimate").sort("estimate").rows(named=True)
    if not rows:
        return ""
    if not rows[1:]:
        return mean_leans(rows[0], asked.measure)
    counts = verdict_counts(row["verdict"] for row in rows)
    low, high = (
        f"{number(row['estimate'])}, which {leaning(row['verdict'])} ({row['model']}, "
        f"{row['mode']})"
        for row in (rows[0], rows[-1])
    )
    neutral = f"neutral is {asked.measure.neutral:g}"
    return f"of {len(rows)} means over all, {counts}: from {low} to {high}; {neutral}"


def _certainty(each: Mapping[str, InstrumentResults]) -> str:
    """Say how far intervals reach, and how much could not be told."""
    said, withheld = [], []
    for name, asked in each.items():
        verdicts = pl.concat([frame["verdict"] for frame in asked.levels.values()])
        if (verdicts == POSITIVE_CONTROL).any():
            withheld.append(name)
        rows = asked.each.drop_nulls(["ci_low", "ci_high"])
        if rows.is_empty():
            continue
        half = median(((rows["ci_high"] - rows["ci_low"]) / 2.0).to_list())
        kinds = [verdict_kind(code) for code in asked.each["verdict"]]
        open_ = len([kind for kind in kinds if kind in ("inconclusive", "no verdict")])
        said.append(f"±{number(half)} ({name}; {open_} of {len(kinds)} open)")
    if not said:
        return "No intervals could be computed"
    known = f"Single stereotypes are known to about {', '.join(said)}; smaller leans do not show"
    if not withheld:
        return known
    return (
        f"{known}. No mean of {', '.join(withheld)} is called near neutral, as the positive "
        "control does not lie beyond the margin"
    )


def _with_answer(lean: Lean, results: AnswerResults) -> Lean:
    """Add the answer whose score is nearest to the mean."""
    if results.scores is None or results.responses is None:
        return lean
    same = (pl.col(name).eq_missing(pl.lit(one, pl.String)) for name, one in lean.about.items())
    near = (
        results.scores.filter(pl.col("score").is_not_null(), *same)
        .select("trial_id", "model", away=(pl.col("score") - lean.mean).abs().round(6))
        .sort("away", "trial_id")
        .head(1)
    )
    found = (
        results.responses.select("trial_id", "model", "prompt", "response", "options")
        .join(near, on=["trial_id", "model"], how="semi")
        .collect(engine="streaming")
    )
    if found.is_empty():
        return lean
    row = found.row(0, named=True)
    return replace(
        lean,
        prompt=_line(as_asked(row["prompt"] or "", row["options"])),
        answer=cut(as_line(in_words(row["response"] or "", row["options"])), SHOWN),
    )


def _line(text: str) -> str:
    """Put a text on a line, cut."""
    return cut(" ".join(text.split()), SHOWN)


def _next(
    directory: Path, plan: PlanFacts, means: Sequence[Lean], *, failed: bool
) -> Iterator[str]:
    """Say what to do with what was found."""
    name = as_argument(directory)
    told = [lean for lean in means if lean.told]
    larger = {"quick": "standard", "standard": "paper"}.get(plan.size)
    if failed:
        yield "Where controls fail, ask in another mode (--mode)"
    if told:
        yield f"The answers: clinometer show {name} {told[0].about['stereotype']}"
    if larger and len(told) < len(means):
        yield f"To tell smaller leans: the same command with --size {larger} and another --out"
    yield f"Before another version replaces it: clinometer compare {name} OTHER"


def _figure(each: Mapping[str, InstrumentResults]) -> Figure | None:
    """Draw all means on one scale: of categories or, of several runs, over all stereotypes."""
    runs = max(_runs(asked) for asked in each.values())
    rows = [row for name, asked in each.items() for row in _rows(name, asked, runs)]
    if not rows:
        return None
    title = "share of the scale from neutral; right: as the stereotype says"
    summary = "; ".join(f"{row['block']}, {row['label']}: {row['shown']}" for row in rows)
    return Figure(
        "summary",
        "Means with intervals, as shares of the way from neutral to the end of the scale. Those of "
        "the categories of an instrument hold for all of them at once.",
        summary,
        forest(rows, Axis(title, -1.0, 1.0, 0.0), labels=_LABELS, width=_WIDTH),
    )


#: Width of the labels and of what is drawn, in pixels: half a page, where letters keep their size.
_LABELS, _WIDTH = 110, 400


def _rows(name: str, asked: InstrumentResults, runs: int) -> Iterator[Row]:
    """Give the rows of one instrument, on the common scale."""
    frame = asked.whole if runs > 1 else pl.concat([asked.levels["category"], asked.whole])
    models = short_names(list(frame["model"].fill_null("").unique(maintain_order=True)))
    modes = frame["mode"].n_unique() > 1
    for row in frame.drop_nulls("estimate").iter_rows(named=True):
        ends = ("estimate", "ci_low", "ci_high")
        shared = dict(zip(ends, _shares(asked, *(row[end] for end in ends)), strict=True))
        label = category_title(row["category"]) if row["category"] else "All"
        if runs > 1:
            of = (models[row["model"] or ""] if models.keys() - {""} else "", row["mode"] * modes)
            label = " · ".join(filter(None, of if len(models) > 1 else of[1:]))
        made = drawn({**row, **shared, "bound_low": None, "bound_high": None}, asked.plan, "all")
        yield {**made, "label": cut(label, 40), "block": capital(name)}
