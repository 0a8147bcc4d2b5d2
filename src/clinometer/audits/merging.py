"""Two or more runs of one plan, asked on different machines or days, put together."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clinometer.asking.plan import Plan
from clinometer.asking.sessions import JUDGE
from clinometer.asking.shards import RequestPlan
from clinometer.audits.sharding import find_plan, load_any_plan
from clinometer.audits.tabulating import tabulate
from clinometer.errors import InputError, PlanError
from clinometer.results.locks import only_process
from clinometer.results.origins import make_key
from clinometer.results.places import open_place
from clinometer.results.records import Journal, journals, read_plan


@dataclass
class Merged:
    """The answers of one model that came from one directory."""

    model: str
    source: str
    copied: int = 0
    """Answers, and errors of what has no answer, that were copied."""
    repeated: int = 0
    """Answers to what has an answer already, which were not copied."""
    origins: Counter[str] = field(default_factory=Counter)
    """Where the answers that were copied come from."""


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
        If there are no two directories, one holds recorded answers or was asked until it was
        decided, a line of answers was changed, or a file cannot be written.

    Examples
    --------
    >>> merge(["results/monday", "s3://bucket/tuesday"], "results/both")  # doctest: +SKIP
    """
    # Directories may be addresses: each has a copy on this machine until the stack is left.
    with ExitStack() as opened:
        sources = [opened.enter_context(open_place(directory)) for directory in directories]
        merged = opened.enter_context(open_place(out))
        if len({path.resolve() for path in (*sources, merged)}) < 2:
            raise InputError("merge: name two results directories, or more")
        plan = _join_plans(sources, merged)
        rows = []
        with only_process(merged):
            for source in sources:
                if source != merged:
                    rows += _copy_answers(source, merged)
        if isinstance(plan, Plan):
            tabulate(merged)
        return rows


def _join_plans(sources: Sequence[Path], out: Path) -> RequestPlan:
    """Write the plan that all directories have into `out`; return it."""
    directories = [*sources, out] if _has_plan(out) else [*sources]
    plans = [load_any_plan(directory) for directory in directories]
    # Plans of associations may differ in their number of repetitions: the largest holds all.
    largest = max(range(len(plans)), key=lambda n: sorted(plans[n].grows().items()))
    plan = plans[largest]
    plan_directory = directories[largest]
    record = read_plan(plan.file(plan_directory))
    for directory, directory_plan in zip(directories, plans, strict=True):
        directory_record = read_plan(directory_plan.file(directory))
        _refuse_differing(directory, directory_record, plan_directory, record, plan)
    if plan_directory != out:
        names = (*plan.attachments(), "policy.yaml")
        for path in (plan.file(plan_directory), *(plan_directory / name for name in names)):
            if path.is_file():
                target = out / path.relative_to(plan_directory)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)
    return plan


def _has_plan(out: Path) -> bool:
    """Return whether a directory has a plan; raise PlanError if it holds something else."""
    if find_plan(out) is not None:
        return True
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise PlanError(f"{out}: not empty, and no results directory; name another with --out")
    return False


def _refuse_differing(
    directory: Path,
    record: dict[str, Any],
    plan_directory: Path,
    plan_record: dict[str, Any],
    plan: RequestPlan,
) -> None:
    """Raise PlanError unless a directory has the plan; InputError for what is not merged."""
    if record.get("recorded") is not None:
        raise InputError(
            f"{directory}: recorded answers; put their tables together, and audit them again"
        )
    if record.get("looks"):
        raise InputError(
            f"{directory}: asked until it was decided, in one directory; repeat its "
            "command to continue it"
        )
    differing = [name for name in plan.identity() if record.get(name) != plan_record.get(name)]
    if differing:
        raise PlanError(
            f"{directory}: another plan than that of {plan_directory}: "
            f"{', '.join(differing)} differ"
        )


def _copy_answers(source: Path, out: Path) -> list[Merged]:
    """Copy what `out` lacks: answers, those of judges, what is known of models, inspect's logs."""
    rows = []
    for journal in journals(source):
        rows.append(_append_answers(journal, Journal(out, journal.model), source))
    for journal in journals(source / JUDGE):
        _append_answers(journal, Journal(out / JUDGE, journal.model), source)
    for log in (source / "logs").glob("*.eval"):
        target = out / "logs" / log.name
        if not target.exists():
            target.parent.mkdir(exist_ok=True)
            shutil.copyfile(log, target)
    return rows


def _append_answers(journal: Journal, target: Journal, source: Path) -> Merged:
    """Append to a journal the answers that it lacks."""
    row = Merged(journal.model, str(source))
    # Trial, or repetition of a cue → whether all its lines in the target are errors.
    failed: dict[object, bool] = {}
    # An episode goes on from its own steps alone, which those of another directory would mix up.
    begun = set[object]()
    for line in target.lines():
        key = _answer_key(line)
        begun.add(line.get("episode"))
        failed[key] = failed.get(key, True) and line.get("error") is not None
    key_id = make_key().id
    for line, origin in journal.lines_with_origins():
        key, error = _answer_key(line), line.get("error")
        if failed.get(key) is False or line.get("episode") in begun - {None}:
            row.repeated += error is None
        elif error is None or key not in failed:
            # The target is marked with this key: what another key, or none, marked says so.
            target.append(line if origin == key_id else {**line, "origin": origin})
            row.origins[origin] += error is None
            failed[key] = error is not None
            row.copied += 1
    target.close()
    for facts in journal.identities():
        target.identify(facts)
    return row


def _answer_key(line: dict[str, Any]) -> tuple[object, ...]:
    """Return what a line is the answer to: a trial, a step of one, or a repetition of a cue."""
    names = ("trial_id", "episode", "step", "cue", "repetition")
    return tuple(line.get(name) for name in names)
