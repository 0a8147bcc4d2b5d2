"""The page on the papers: its commands exist, and each numbered table and figure has a place."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from clinometer.cli.group import _group
from clinometer.contracts.catalogue import INSTRUMENTS
from clinometer.reference import PUBLISHED
from clinometer.stimuli import load_study, shipped_studies
from clinometer_measures.networks.study import shipped_network_studies

PAGE = (Path(__file__).parents[2] / "docs/reference/papers.md").read_text(encoding="utf-8")
CODE = re.findall(r"`([^`\n]+)`", PAGE)
COMMANDS = sorted({code for code in CODE if code.startswith("clinometer ")})

ALLOWED = {
    "studies": {*shipped_studies(), *shipped_network_studies()},
    "instruments": set(INSTRUMENTS),
}

#: Heading of a paper → its numbered tables and figures.
NUMBERED = {
    "Bai": {
        "Figure": [*"1234", *(f"S{n}" for n in range(1, 14))],
        "Table": [f"S{n}" for n in range(1, 17)],
    },
    "Li": {"Figure": [*"123456789"], "Table": [*"12345"]},
    "Abramski": {"Figure": [str(n) for n in range(1, 14)], "Table": [*"123"]},
    "Schuster": {"Figure": [*"12345", "6a", "6b"], "Table": [*"12"]},
}


def parsed(line: str) -> tuple[click.Command, dict[str, Any]]:
    """Find the command of a line and read its options as click does, without running it."""
    command: click.Command = _group
    context, args = click.Context(command), shlex.split(line)[1:]
    while isinstance(command, click.Group):
        name, *rest = args
        if name not in command.list_commands(context) and command.name == "profile":
            name, rest = "measure", args
        subcommand = command.get_command(context, name)
        assert subcommand is not None, f"{line}: no command {name}"
        command, args = subcommand, rest
        context = click.Context(command)
    values, _, _ = command.make_parser(context).parse_args(args)
    for param in command.params:
        argument = values.get(param.name or "")
        if isinstance(param.type, click.Choice) and argument is not None:
            for choice in argument if param.multiple else (argument,):
                param.type.convert(choice, param, context)
    return command, values


def option_names(values: dict[str, Any], name: str) -> set[str]:
    """Return the names that an option gives, once or several times."""
    option = values.get(name)
    several = option if isinstance(option, list | tuple) else [option]
    return {entry for entry in several if isinstance(entry, str)}


def check(line: str) -> None:
    """Raise where a line has an unknown command, option, study, instrument or wording."""
    command, values = parsed(line)
    studies = option_names(values, "studies") | option_names(values, "study")
    instruments = option_names(values, "instruments") | option_names(values, "instrument")
    if command.name == "published":
        for study in studies - {"STUDY"}:
            assert instruments <= {*PUBLISHED[study]}, line
        return
    assert studies <= ALLOWED["studies"], line
    assert instruments <= ALLOWED["instruments"], line
    if wordings := values.get("variations"):
        study = load_study(*(studies or {"bai2025"}))
        (instrument,) = instruments or {"word_association"}
        assert {*wordings.split(",")} <= {*INSTRUMENTS[instrument].wordings(study)}, line


def numbers(cell: str) -> Iterator[tuple[str, str]]:
    """Yield the tables and figures that a cell names: "Tables S6 to S8" are three."""
    place = r"S?\d+[ab]?"
    for kind, text in re.findall(rf"(Table|Figure)s? ({place}(?:(?:, | and | to ){place})*)", cell):
        for part in re.split(r", | and ", text):
            first, _, last = part.partition(" to ")
            mark = first.rstrip("0123456789ab")
            if last:
                span = range(int(first.lstrip("S")), int(last.lstrip("S")) + 1)
                yield from ((kind, f"{mark}{n}") for n in span)
            else:
                yield kind, first


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_is_one(line: str) -> None:
    check(line)


@pytest.mark.parametrize(
    "line",
    [
        "clinometer audits MODEL",
        "clinometer network biases NET.csv",
        "clinometer audit MODEL --sizing paper",
        "clinometer audit MODEL --size papers",
        "clinometer run MODEL --study bai2026",
        "clinometer run MODEL --instrument bqb",
        "clinometer run MODEL --variations replication,instruction9",
        "clinometer list bai2026",
        "clinometer published bai2025 bold_answers",
        "clinometer published bai2026",
    ],
)
def test_a_wrong_command_is_found(line: str) -> None:
    with pytest.raises((AssertionError, KeyError, click.UsageError)):
        check(line)


def test_an_option_that_is_mentioned_is_one() -> None:
    options = {option for line in COMMANDS for param in parsed(line)[0].params
               for option in (*param.opts, *param.secondary_opts)}  # fmt: skip
    mentioned = {part for code in CODE for part in code.split() if part.startswith("--")}
    assert len(mentioned) > 20
    assert mentioned <= options


@pytest.mark.parametrize("paper", NUMBERED)
def test_each_table_and_figure_has_one_place(paper: str) -> None:
    (section,) = re.findall(rf"^## {paper}\b.*?(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    first = re.findall(r"^\| (.*?) \|", section, re.MULTILINE)
    counted = Counter(number for cell in first for number in numbers(cell))
    expected = [
        (kind, number)
        for kind, numbers_of_kind in NUMBERED[paper].items()
        for number in numbers_of_kind
    ]
    assert counted == Counter(expected)


def test_every_table_of_the_page_is_whole() -> None:
    rows = [re.split(r"(?<!\\)\|", line) for line in PAGE.splitlines() if line.startswith("| ")]
    heads = [row for row in rows if row[1].strip() == "section, table or figure"]
    assert len(heads) == 6
    assert {len(row) - 2 for row in rows} == {3, 4}
    assert "to be completed" not in PAGE
