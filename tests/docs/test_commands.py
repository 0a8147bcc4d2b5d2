"""Every command that a page shows is one, with options that it has."""

from __future__ import annotations

import itertools
import re
import shlex
from pathlib import Path

import click
import pytest

from clinometer.cli import commands
from clinometer.cli.group import LateGroup

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]
BLOCK = re.compile(r"^ *```[a-z]*\n(.*?)^ *```", re.DOTALL | re.MULTILINE)


def words_of(typed: str) -> list[str]:
    """Return the words of a command, up to where the shell goes on with something else."""
    lexer = shlex.shlex(typed.replace("2>&1", ";"), posix=True, punctuation_chars=";<>|&")
    lexer.whitespace_split = True
    words = [*lexer]
    return list(itertools.takewhile(lambda word: word[:1] not in {*";<>|&"}, words))


def find(typed: str) -> tuple[click.Context, click.Command, list[str]]:
    """Return the context and the command of a line, and the words after its name."""
    words = words_of(typed)[1:]
    command: click.Command = LateGroup(commands(), name="clinometer")
    context = click.Context(command)
    while isinstance(command, click.Group) and words:
        command.parse_args(context, words)  # profile puts in the name of its usual command
        words = [*context._protected_args, *context.args]
        _, subcommand, words = command.resolve_command(context, words)
        assert subcommand is not None
        command, context = subcommand, click.Context(subcommand, parent=context)
    return context, command, words


def lines_of(page: Path) -> list[str]:
    """Return the commands in the blocks of a page, as they would be typed."""
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    typed = [line.strip().removeprefix("$ ") for line in lines]
    return [line for line in typed if line.startswith("clinometer ")]


def mentions_of(page: Path) -> list[str]:
    """Return the commands within the text of a page, which may be parts of one."""
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    return [" ".join(code.split()) for code in re.findall(r"`(clinometer [a-z][^`]+)`", text)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_that_pages_show_can_be_typed(page: Path) -> None:
    refused = {}
    for typed in lines_of(page):
        # What a shell would put in, and the reader.
        words = re.sub(r'"?\$\{?[A-Z_]*TASK_ID\}?"?', "1", typed)
        words = re.sub(r"\bMODEL\b", "openai/gpt-4o", words)
        try:
            context, command, rest = find(words)
            command.make_context(command.name, rest, parent=context.parent)
        except click.ClickException as error:
            if "does not exist" not in error.format_message():  # a file of the reader's
                refused[typed] = error.format_message()
    assert refused == {}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_options_that_pages_name_are_those_of_the_command(page: Path) -> None:
    unknown = {}
    for typed in mentions_of(page):
        context, command, rest = find(typed)
        declared = {name for option in command.get_params(context) for name in
                    (*option.opts, *option.secondary_opts)}  # fmt: skip
        options = (word.strip("[]") for word in rest)
        options_on_page = {word.partition("=")[0] for word in options if word.startswith("-")}
        if options_on_page - declared:
            unknown[typed] = options_on_page - declared
    assert unknown == {}


def test_a_line_that_cannot_be_typed_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("Type `clinometer run M --absent`:\n\n```\n$ clinometer cost\n```\n")
    assert lines_of(page) == ["clinometer cost"]
    with pytest.raises(AssertionError, match="MODEL"):
        test_commands_that_pages_show_can_be_typed(page)
    with pytest.raises(AssertionError, match="--absent"):
        test_options_that_pages_name_are_those_of_the_command(page)
