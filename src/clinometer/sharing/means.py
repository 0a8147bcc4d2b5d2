"""What is shared of a results directory: the means of the answers of its models."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from clinometer.contracts.catalogue import MEASURES
from clinometer.directory.results import Results, read_results
from clinometer.errors import InputError
from clinometer.pieces.findings import Finding
from clinometer.report.answers.summary import findings
from clinometer.results import CONDITIONS, join_methods
from clinometer.results.bundles import BUNDLE_PATTERNS
from clinometer.results.contents import refuse_secrets
from clinometer.results.controls import JUDGED_KINDS
from clinometer.results.ranges import IN_PROMPTS, lean_text
from clinometer.results.records import refuse_shared_folders, slug
from clinometer.texts import write_text

#: What a run does not know, and who shares it does.
UNKNOWN = "FILL IN"

#: Values of how answers were asked and scored that names leave out.
_USUAL = ("none", "plain", "exact")


def read_shareable(directory: str | Path) -> Results:
    """Read a results directory to hand it on.

    Raises InputError, which names the file, if one holds a key or a password; else as
    `read_results`.
    """
    results = read_results(directory)
    paths = (path for pattern in BUNDLE_PATTERNS for path in results.directory.glob(pattern))
    refuse_secrets({str(path): path for path in paths if path.is_file()})
    return results


def means_by_model(results: Results) -> Iterator[tuple[str, pl.DataFrame]]:
    """Return every model with its estimates: means of answers per model, category, stereotype.

    The rows are those of other prompts; beside them stand the columns of `IN_PROMPTS`.

    Raises InputError if there are none.
    """
    rows = results.estimates.filter(
        pl.col("factor").is_null() & pl.col("model").is_not_null(),
        pl.col("level").is_in(["model", "category", "stereotype"]),
        pl.col("measure").is_in(list(MEASURES)),
        family="answers",
    )
    rows = join_methods(rows, "clustered", IN_PROMPTS).drop_nulls("estimate")
    if rows.is_empty():
        raise InputError(f"{results.directory}: no means of answers; nothing to share")
    for (model,), means in rows.group_by("model", maintain_order=True):
        yield str(model), means


def findings_by_model(results: Results) -> dict[str, list[Finding]]:
    """Return what is told of the means of each model; controls are no findings.

    Raises InputError if nothing is told.
    """
    by_model: dict[str, list[Finding]] = {}
    for finding in findings(results):
        by_model.setdefault(str(finding.about["model"]), []).append(finding)
    if not by_model:
        raise InputError(f"{results.directory}: no means of answers; nothing to share")
    return by_model


def write_by_model(
    directory: str | Path,
    folder: str | Path,
    texts: Callable[[str, Sequence[Finding], Mapping[str, Any]], Mapping[str, str]],
) -> list[Path]:
    """Write files of each model into a folder of its own; return their paths.

    `texts`: of a model, its findings and the plan, the text of each file by its name.

    Raises InputError if there are no means of answers, a file holds a key, two models have one
    folder, or a file cannot be written.
    """
    results = read_shareable(directory)
    by_model = findings_by_model(results)
    refuse_shared_folders(by_model)
    paths = []
    for model, means in by_model.items():
        for name, text in texts(model, means, results.plan).items():
            paths.append(Path(folder) / slug(model) / name)
            write_text(paths[-1], text)
    return paths


def name_parts(finding: Finding, *factors: str) -> list[str]:
    """Return what names a mean: study, instrument, mode, how it was asked and scored, `factors`.

    Factors without a value, and what is usual, are left out.
    """
    about = finding.about
    settings = (about[name] for name in (*CONDITIONS, "word_list", "scoring"))
    unusual = (value for value in settings if value not in _USUAL)
    first = (about["study"], about["instrument"], about["mode"])
    parts = (*first, *unusual, *(about[name] for name in factors))
    return [part for part in parts if part is not None]


def lean_of_mean(row: Mapping[str, Any]) -> str:
    """Say of a mean whether it leans, in these prompts and in others; of a control, its verdict."""
    if row["control"] in JUDGED_KINDS:
        return row["verdict"] or "no verdict"
    verdicts = row["verdict_bounded"], row["verdict"], row["conditional_on"]
    return lean_text(*verdicts, directed=MEASURES[row["measure"]].directed)
