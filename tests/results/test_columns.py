"""Every table is made of the columns that have a meaning, and the page about them is their own."""

from __future__ import annotations

import importlib
import json
import pkgutil
import random
from contextlib import closing
from pathlib import Path

import polars as pl
import pytest

import clinometer.results
from clinometer.asking.claim import claim
from clinometer.asking.plan import Plan, Selection
from clinometer.audits.tabulating import tabulate
from clinometer.contracts.catalogue import INSTRUMENTS, MEASURES
from clinometer.contracts.design import Design
from clinometer.directory.codebook import codebook
from clinometer.directory.results import all_tables, read_estimates
from clinometer.errors import InputError
from clinometer.families import families
from clinometer.instruments.absolute_decision.yes_shares import CONSISTENT_SHARE
from clinometer.instruments.affective_attribution.attributions import FAR_UAR, SHARES
from clinometer.results import COLUMNS, LEVELS, Schema, check, columns
from clinometer.results.columns import may_lack
from clinometer.results.estimates import COMMON_MEASURES, KEYS
from clinometer.results.records import Journal
from clinometer.results.verdicts import explained
from clinometer.statistics.explicitness import EXPLICIT_GAP
from clinometer.stimuli import load_study
from clinometer_measures.even_handed.pair_shares import PAIR_MEASURES
from clinometer_measures.framings.analysis import EFFECT as FRAMING_EFFECT
from clinometer_measures.matched_guise.associations import MEASURES as GUISE_MEASURES

LATER = [name for name in COLUMNS if may_lack(name)]
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "columns.md"
MODELS = ("m", "n")
NAMES = tuple(name for name, instrument in INSTRUMENTS.items() if "structured" in instrument.modes)


def schemas() -> dict[str, Schema]:
    """Every schema of the room, by module and name; `all_tables` holds those of families too."""
    by_name = {}
    for module in pkgutil.iter_modules(clinometer.results.__path__):
        for name, value in vars(
            importlib.import_module(f"clinometer.results.{module.name}")
        ).items():
            if isinstance(value, dict) and any(isinstance(v, pl.DataType) for v in value.values()):
                by_name[f"{module.name}.{name}"] = value
    return by_name


@pytest.mark.parametrize("schema", [pytest.param(s, id=name) for name, s in schemas().items()])
def test_a_schema_is_made_of_columns_that_have_a_meaning(schema: Schema) -> None:
    assert {name: kind for name, kind in schema.items() if name not in COLUMNS} == {}
    assert schema == columns(*schema)


OWNERS = {
    **{name: ("answers", instrument.details) for name, instrument in INSTRUMENTS.items()},
    **{name: (name, family.tables()) for name, family in families().items()},
}


@pytest.mark.parametrize("owner", OWNERS)
def test_the_columns_of_an_instrument_or_a_family_are_its_own(owner: str) -> None:
    family, tables = OWNERS[owner]
    for name, table in tables.items():
        assert table.family == family
        assert table.schema == columns(*table.schema, own=table.own)
        assert not table.own.keys() & COLUMNS.keys()
        assert all(column.meaning and "\n" not in column.meaning for column in table.own.values())
        for second_name, second in all_tables().items():
            assert second_name in tables or not table.own.keys() & second.own.keys(), name


def test_every_column_stands_in_a_table_and_has_a_meaning() -> None:
    in_schemas = {name for schema in schemas().values() for name in schema}
    in_tables = {name for table in all_tables().values() for name in table.schema}
    assert set(COLUMNS) <= in_schemas | in_tables
    assert in_schemas <= set(COLUMNS)
    assert all(column.meaning and "\n" not in column.meaning for column in COLUMNS.values())


# What a run writes


def selection(name: str) -> Selection:
    """Two stereotypes of an instrument's own study in one wording."""
    study = load_study(INSTRUMENTS[name].study)
    trials = INSTRUMENTS[name].trials(study, Design("structured", 1))
    keys = trials["stereotype"].unique(maintain_order=True)[:2].to_list()
    wordings = trials.filter(pl.col("stereotype").is_in(keys))["variation"].unique(
        maintain_order=True
    )
    if name == "framings":  # its tables need all of them, each with two draws
        return Selection(study, keys, [*wordings], instrument=name, iterations=8)
    return Selection(study, keys, [wordings[0]], instrument=name)


def answer(trial: dict[str, str], rng: random.Random) -> str:
    """Choose at random among what the schema of a trial allows."""
    offered = json.loads(trial["schema"])["properties"]
    return json.dumps(
        {key: rng.choice(word_schema["enum"]) for key, word_schema in offered.items()}
    )


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a run of every instrument, with an intervention and two models."""
    directory = tmp_path_factory.mktemp("run") / "r"
    plan = Plan(
        [selection(name) for name in NAMES], MODELS, modes=("structured",), iterations=4,
        interventions={"none": None, "kind": "Be kind."},
    )  # fmt: skip
    claim(directory, plan)
    rng = random.Random(0)
    for model in MODELS:
        with closing(Journal(directory, model)) as journal:
            for trial in plan.trials().iter_rows(named=True):
                steps = [[answer(trial, rng), "stop"] for _ in range(trial["steps"] or 0)]
                response = json.dumps(steps) if steps else answer(trial, rng)
                reply = {"response": response, "stop_reason": "stop"}
                journal.append({"trial_id": trial["trial_id"], **reply})
    tabulate(directory)
    return directory


#: Of instruments that the run does not ask, as they have no structured answers.
UNASKED = {
    table
    for name, instrument in INSTRUMENTS.items()
    if name not in NAMES
    for table in instrument.details
} - {table for name in NAMES for table in INSTRUMENTS[name].details}

#: But for ``failures``, of analyses that failed.
ANSWER_TABLES = [
    name
    for name, table in all_tables().items()
    if table.family in ("", "answers") and name not in {"failures", *UNASKED}
]


def test_a_run_writes_the_tables_of_answers_and_no_others(run: Path) -> None:
    stems = {path.stem for path in run.glob("*.parquet")}
    assert stems == set(ANSWER_TABLES)


@pytest.mark.parametrize("name", ANSWER_TABLES)
def test_a_written_table_has_exactly_its_columns(run: Path, name: str) -> None:
    table = pl.read_parquet(run / f"{name}.parquet")
    assert table.schema == pl.Schema(all_tables()[name].schema) and not table.is_empty()
    assert not any(column.is_nan().any() for column in table.select(pl.selectors.float()))


def test_estimates_are_told_apart_by_their_keys_method_and_alternative(run: Path) -> None:
    estimates = read_estimates(run)
    keys = estimates.select(*KEYS, "method", "alternative")
    assert keys.filter(keys.is_duplicated()).is_empty()
    assert set(estimates["family"]) == {"answers"} and set(estimates["level"]) <= {*LEVELS, None}
    assert set(estimates["measure"]) <= {
        *MEASURES,
        *COMMON_MEASURES,
        *(measure.name for measure in (*SHARES.values(), FAR_UAR, CONSISTENT_SHARE, EXPLICIT_GAP)),
        *(name for instrument in INSTRUMENTS.values() for name in instrument.analysed),
        *GUISE_MEASURES,
        FRAMING_EFFECT.name,
        *PAIR_MEASURES,
    }
    assert all(explained(verdict) for verdict in estimates["verdict"].drop_nulls().unique())
    judged = estimates.filter(pl.col("verdict").is_not_null())
    assert judged["because"].null_count() == 0 and set(judged["method"]) == {"bounded", "clustered"}


# Checks


def test_a_table_of_columns_is_selected_ordered_and_cast() -> None:
    frame = pl.DataFrame({"extra": [1], "n": [2.0], "model": ["m"]})
    assert check(frame, columns("model", "n"), "t").rows() == [("m", 2)]


def test_columns_that_came_later_may_be_missing() -> None:
    checked = check(pl.DataFrame({"model": ["m"]}), columns("model", *LATER), "t")
    assert checked.rows() == [("m", *[None] * len(LATER))]


@pytest.mark.parametrize(
    ("frame", "says"),
    [
        (pl.DataFrame({"model": ["m"]}), "t: missing column n, p; has model"),
        (pl.DataFrame({"model": ["m"], "n": ["many"], "p": [0.1]}), "t: conversion .*many"),
    ],
)
def test_what_does_not_fit_is_one_line(frame: pl.DataFrame, says: str) -> None:
    with pytest.raises(InputError, match=says) as error:
        check(frame, columns("model", "n", "p"), "t")
    assert "\n" not in str(error.value)


# The page


def test_the_page_of_columns_is_made_from_the_schemas() -> None:
    again = "python -m clinometer.directory.codebook > docs/reference/columns.md"
    assert PAGE.read_text(encoding="utf-8") == codebook(), f"out of date; make it anew: {again}"


def test_the_page_has_every_table_and_column() -> None:
    page = codebook()
    for name, table in all_tables().items():
        section = page.split(f"### `{name}`\n")[1].split("\n### ")[0]
        listed = [line.split("`")[1] for line in section.splitlines() if line.startswith("| `")]
        assert listed == [*table.schema]
        assert all(line.count(" | ") == 2 for line in section.splitlines() if line[:3] == "| `")
