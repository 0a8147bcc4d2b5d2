"""Two or more runs of one plan, asked on different machines or days, put together."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clinometer.asking.plan import Plan
from clinometer.asking.sessions import JUDGE
from clinometer.asking.shards import RequestPlan
from clinometer.audits.sharding import find_plan, load_any_plan
from clinometer.audits.tabulating import tabulate
from clinometer.errors import InputError, PlanError
from clinometer.results.locks import only_process
from clinometer.results.places import open_place
from clinometer.results.records import Journal, journals, read_plan

__all__ = ["Merged", "merge"]


@dataclass
class Merged:
    """The answers of one model that came from one directory."""

    model: str
    source: str
    taken: int = 0
    """Answers, and errors of what has no answer, that were taken."""
    there: int = 0
    """Answers to what has an answer already, which were left."""


def merge(directories: Sequence[str | Path], out: str | Path) -> list[Merged]:
    """Put the answers of several runs of one plan together, and write the tables.

    Of two answers to the same trial, or the same repetition of a cue, that of the directory named
    first is taken; merging again changes nothing.

    Parameters
    ----------
    directories
        Results directories of one plan; of associations, the numbers of repetitions may differ.
    out
        Results directory, which may be one of them; made if absent.

    Returns
    -------
    list of Merged
        A row for each directory and model.

    Raises
    ------
    PlanError
        If a directory holds no plan or another plan, or another process asks in `out`.
    InputError
        If there are no two directories, one holds recorded answers, a line of answers was changed,
        or a file cannot be written.

    Examples
    --------
    >>> merge(["results/monday", "s3://bucket/tuesday"], "results/both")  # doctest: +SKIP
    """
    with ExitStack() as opened:
        sources = [opened.enter_context(open_place(one)) for one in directories]
        whole = opened.enter_context(open_place(out))
        if len({one.resolve() for one in (*sources, whole)}) < 2:
            raise InputError("merge: name two results directories, or more")
        plan = _join_plans(sources, whole)
        with only_process(whole):
            found = [row for source in sources for row in _take(source, whole) if source != whole]
        if isinstance(plan, Plan):
            tabulate(whole)
        return found


def _join_plans(sources: Sequence[Path], out: Path) -> RequestPlan:
    """Write the plan that all directories have into `out`; return it."""
    named = [*sources, *([out] if _has_plan(out) else [])]
    plans = [load_any_plan(one) for one in named]
    largest = max(range(len(plans)), key=lambda n: sorted(plans[n].grows().items()))
    plan, place = plans[largest], named[largest]
    kept = read_plan(plan.file(place))
    for one, other in zip(named, plans, strict=True):
        _refuse_other(one, read_plan(other.file(one)), place, kept, plan)
    if place != out:
        files = (plan.file(place), *(place / name for name in (*plan.attachments(), "policy.yaml")))
        for path in (one for one in files if one.is_file()):
            copied = out / path.relative_to(place)
            copied.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copied)
    return plan


def _has_plan(out: Path) -> bool:
    """Return whether a directory has a plan; raise PlanError if it holds something else."""
    if find_plan(out) is not None:
        return True
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise PlanError(f"{out}: not empty, and no results directory; name another with --out")
    return False


def _refuse_other(
    one: Path,
    kept: dict[str, Any],
    place: Path,
    wanted: dict[str, Any],
    plan: RequestPlan,
) -> None:
    if kept.get("recorded") is not None:
        raise InputError(
            f"{one}: recorded answers; put their tables together, and audit them again"
        )
    differing = [name for name in plan.identity() if kept.get(name) != wanted.get(name)]
    if differing:
        raise PlanError(f"{one}: another plan than that of {place}: {', '.join(differing)} differ")


def _take(source: Path, out: Path) -> list[Merged]:
    """Copy what `out` lacks: answers, those of judges, what is known of models, inspect's logs."""
    found = [_add(journal, Journal(out, journal.model), source) for journal in journals(source)]
    for journal in journals(source / JUDGE):
        _add(journal, Journal(out / JUDGE, journal.model), source)
    for log in (source / "logs").glob("*.eval"):
        if not (copied := out / "logs" / log.name).exists():
            copied.parent.mkdir(exist_ok=True)
            shutil.copyfile(log, copied)
    return found


def _add(journal: Journal, to: Journal, source: Path) -> Merged:
    """Append the answers that a journal lacks."""
    row = Merged(journal.model, str(source))
    failed: dict[object, bool] = {}
    for line in to.lines():
        failed[_name(line)] = failed.get(_name(line), True) and line.get("error") is not None
    for line in journal.lines():
        name, error = _name(line), line.get("error")
        if failed.get(name) is False:
            row.there += error is None
        elif error is None or name not in failed:
            to.append(line)
            failed[name] = error is not None
            row.taken += 1
    to.close()
    for facts in journal.identities():
        to.identify(facts)
    return row


def _name(line: dict[str, Any]) -> tuple[object, ...]:
    """Return what a line is the answer to."""
    return line.get("trial_id"), line.get("cue"), line.get("repetition")
