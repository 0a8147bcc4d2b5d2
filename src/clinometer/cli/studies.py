"""``clinometer list``, ``validate``, ``published`` and ``cite``: studies and their sources."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from clinometer.cli.options import FILE, TABLE, command
from clinometer.cli.output import echo
from clinometer.errors import StudyError

if TYPE_CHECKING:
    from clinometer.stimuli import Study


@command("list")
@click.argument("study", required=False, metavar="[STUDY|FILE]")
def list_command(study: str | None) -> None:
    """List instruments, modes and studies, or the stereotypes and wordings of STUDY."""
    from clinometer.stimuli import Study, open_study

    if study is None:
        _list_everything()
        return
    loaded = open_study(study)
    echo(f"{loaded.name}: {loaded.title}")
    if not isinstance(loaded, Study):
        echo("\n".join(loaded.lines()))
        return
    _list_wordings(loaded)
    echo("stereotypes")
    any_defect = False
    for key, stereotype in loaded.stereotypes.items():
        groups = f"{', '.join(stereotype.marginalized)} | {', '.join(stereotype.default)}"
        groups += " (aligned)" if stereotype.aligned else ""
        # The empty name: defects that are of no one wording.
        defect = any(stereotype.defect(name) for name in ("", *stereotype.variations))
        any_defect = any_defect or defect
        echo(f"  {key:24}{stereotype.category:12}{groups}{' *' if defect else ''}")
    if any_defect:
        echo("* has a known defect of the source, kept verbatim; the report states it")


@command("validate")
@click.argument("file", metavar="NAME|FILE", type=FILE)
def validate_command(file: Path) -> None:
    """Check FILE, a study of answers or of another family; errors name file, line and field."""
    from clinometer.contracts.catalogue import check_parts
    from clinometer.stimuli import Study, open_study, remarks, study_hash

    if file.suffix not in ("", ".yaml", ".yml"):  # without an ending: the name of a study
        raise StudyError(f"{file}: a study file ends in .yaml or .yml")
    study = open_study(file)
    if not isinstance(study, Study):
        echo(f"{file}: valid; {study.summary()}")
        return
    check_parts(study)
    for note in remarks(study):
        echo(f"{file}: note: {note}")
    stereotypes = len(study.stereotypes)
    echo(f"{file}: valid; study {study.name}, {stereotypes} stereotypes, {study_hash(study)}")


@command("cite")
@click.argument("study", default="bai2025", metavar="[STUDY|RESULTS]")
@click.option("--bibtex", is_flag=True, help="Print a BibTeX entry.")
def cite_command(study: str, bibtex: bool) -> None:
    """Print the references to cite for STUDY (default: bai2025) and Clinometer.

    Of RESULTS, a folder of an audit, also a paragraph for your section on methods: who was asked
    what, when and how, what was left out and why, and how means are judged.
    """
    from clinometer import __version__
    from clinometer.stimuli import open_study

    if Path(study).is_dir():
        _cite_run(Path(study), bibtex)
        return
    citation = open_study(study).citation
    echo((citation.bibtex if bibtex and citation.bibtex else citation.text).strip())
    echo(_OWN_REFERENCE.format(__version__))


def _cite_run(results: Path, bibtex: bool) -> None:
    """Print how a run was made, and the references of its studies."""
    from clinometer.pieces.plan import read_plan
    from clinometer.report.methods import methods_paragraph

    echo(methods_paragraph(results))
    plan = read_plan(results / "plan.json")
    for source in plan.sources:
        echo((source.bibtex if bibtex and source.bibtex else source.citation).strip())
    echo(_OWN_REFERENCE.format(plan.version))


#: How Clinometer is cited, with its version.
_OWN_REFERENCE = "Clinometer {} (2026). https://pypi.org/project/clinometer"


@command("published")
@click.argument("study", required=False)
@click.argument("instrument", required=False)
@click.option("--table", metavar="NAME", help="Only this table of the source, such as S7.")
@click.option("--model", metavar="NAME", help="Only this model, as the source names it.")
@click.option("--out", type=TABLE, help="Write the rows to a .csv or .parquet file.")
def published_command(
    study: str | None,
    instrument: str | None,
    table: str | None,
    model: str | None,
    out: Path | None,
) -> None:
    """Print the values that STUDY has published for INSTRUMENT, as CSV.

    Values are as printed; doubts stand in the column note. Without INSTRUMENT, name what there is.
    """
    from clinometer.errors import InputError, unknown
    from clinometer.reference import PUBLISHED, load_published, load_regressions
    from clinometer.results.tables import write_table

    if study is None or instrument is None:
        if study is not None and study not in PUBLISHED:
            raise InputError(unknown("study with published values", study, PUBLISHED))
        published = PUBLISHED if study is None else {study: PUBLISHED[study]}
        texts = {name: ", ".join(instruments) for name, instruments in published.items()}
        _list_rows("published", texts)
        return
    # Regressions are no instrument; their table has columns of its own.
    regressions = instrument == "regressions"
    rows = load_regressions(study) if regressions else load_published(study, instrument)
    for column, value in (("table", table), ("model", model)):
        if value is None:
            continue
        if column not in rows.columns:
            raise InputError(f"--{column}: {study} {instrument} has no column {column}")
        values = rows[column].drop_nulls().unique(maintain_order=True)
        if value not in values:
            raise InputError(f"--{column}: {unknown(column, value, list(values))}")
        rows = rows.filter(rows[column] == value)
    if out is None:
        echo(rows.write_csv().rstrip())
        return
    write_table(rows, out)
    echo(f"{rows.height} rows: {out}")


def _list_everything() -> None:
    from clinometer import stimuli
    from clinometer.contracts.catalogue import INSTRUMENTS
    from clinometer.families import families
    from clinometer.modes import MODES

    instruments = {}
    for name, instrument in INSTRUMENTS.items():
        measure = instrument.measures[0]  # the main one names the instrument
        instruments[name] = f"{measure.title.partition(':')[0]} ({measure.reference})"
    studies = {}
    stereotypes = {}
    for name in [*stimuli.shipped_studies(), *stimuli.user_studies()]:
        study = stimuli.load_study(name)
        studies[name] = f"{study.title} ({_count(study)})"
        stereotypes[name] = ", ".join(study.stereotypes)
    sections: dict[str, Mapping[str, str]] = {
        "instruments": instruments,
        "response modes": {mode.name: mode.title for mode in MODES.values()},
        "studies": studies,
        "stereotypes": stereotypes,
    }
    for family in families().values():
        sections |= family.listing()
    for title, rows in sections.items():
        _list_rows(title, rows)
    echo("clinometer list STUDY shows the wordings and groups of a study")


def _count(study: Study) -> str:
    count = len(study.stereotypes)
    return f"{count} stereotype{'s' * (count > 1)}"


def _list_rows(title: str, rows: Mapping[str, str]) -> None:
    """Print names with their descriptions; nothing if there are none."""
    if rows:
        echo("\n".join([title, *(f"  {name:23} {text}" for name, text in rows.items())]))


def _list_wordings(study: Study) -> None:
    """Print the wordings of each instrument, the interventions and the objects of descriptions."""
    from clinometer.contracts.catalogue import INSTRUMENTS

    for instrument in INSTRUMENTS.values():
        wordings = instrument.wordings(study)
        # Without a text: wordings that each stereotype has by itself; their names in one line.
        textless = [name for name, wording in wordings.items() if not wording.text]
        if wordings:
            note = ", each stereotype with its own wordings" if textless else ""
            echo(f"variations of {instrument.name}{note}")
        for name, wording in wordings.items():
            if wording.text:
                mark = "" if wording.by_default else " (not asked by default)"
                echo(f"  {name:24}{wording.text}{mark}")
        if textless:
            names = []
            for name in textless:
                mark = "" if wordings[name].by_default else " (not by default)"
                names.append(f"{name}{mark}")
            echo(f"  {', '.join(names)}")
    _list_rows("interventions", study.interventions)
    dimensions = {}
    for name, pole in study.dimensions.items():
        tied, counter = ", ".join(pole.tied[:3]), ", ".join(pole.counter[:3])
        dimensions[name] = f"{tied}, … | {counter}, …"
    _list_rows("dimensions (asked of every stereotype)", dimensions)
    if study.objects:
        echo(f"objects to describe: {', '.join(study.objects)}")
