"""The tutorials: every block is run in order in an empty folder and gives what the page shows."""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path

import pytest
from sybil import Example, Sybil
from sybil.evaluators.python import PythonEvaluator
from sybil.parsers.markdown import CodeBlockParser

FOLDER = Path(__file__).parents[2] / "docs" / "tutorials"
TUTORIALS = sorted(FOLDER.glob("*.md"))


def differs(expected: str, output: str) -> str | None:
    """Compare line by line, without spaces at their ends.

    "…" stands for any text of a line, alone on a line for any lines.
    """
    pattern = "".join(
        r"(?:.*\n)*" if line.strip() == "…" else re.escape(line.rstrip()).replace("…", ".*") + r"\n"
        for line in expected.strip("\n").splitlines()
    )
    lines = output.rstrip("\n").splitlines()
    if re.fullmatch(pattern, "".join(f"{line.rstrip()}\n" for line in lines)):
        return None
    return f"the page shows\n\n{expected}\n\nbut it is\n\n{output}"


def commands(block: str) -> Iterator[tuple[str, str]]:
    """Split a console block into commands with their output."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def run_commands(block: str, folder: Path, *, succeeds: bool = True) -> str | None:
    """Run commands as a shell does, and compare what they print with what is shown.

    If not `succeeds`, a command may fail, as a gate does, and be shown without what it prints.
    """
    binaries = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for command, expected in commands(block):
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=folder,
            env={**os.environ, "PATH": binaries, "COLUMNS": "100"},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode and succeeds:
            return f"exit code {done.returncode}: {command}\n{done.stdout}{done.stderr}"
        if (expected.strip() or succeeds) and (difference := differs(expected, done.stdout)):
            return f"{command}\n\n{difference}"
    return None


def run_console(example: Example) -> str | None:
    return run_commands(example.parsed, Path.cwd())


def run_python(example: Example) -> None:
    """Run code, and keep what it prints for the block of output after it."""
    printed = example.namespace["printed"] = io.StringIO()
    with redirect_stdout(printed):
        PythonEvaluator()(example)


def compare_output(example: Example) -> str | None:
    return differs(example.parsed, example.namespace.pop("printed").getvalue())


def write_file(example: Example) -> None:
    """Write a block whose first line is a comment with the name of a file."""
    name = re.match(r"# (\S+\.yaml)\n", example.parsed)
    assert name, "a block of YAML begins with the name of its file"
    Path(name[1]).write_text(example.parsed, encoding="utf-8")


EVALUATORS = {
    "console": run_console,
    "python": run_python,
    "text": compare_output,
    "yaml": write_file,
}


@pytest.mark.slow
@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in TUTORIALS])
def test_a_tutorial_does_what_it_shows(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "ssh-keygen" in path.read_text(encoding="utf-8") and shutil.which("ssh-keygen") is None:
        pytest.skip("needs ssh-keygen (openssh-client)")
    monkeypatch.chdir(tmp_path)
    document = Sybil([CodeBlockParser(*evaluator) for evaluator in EVALUATORS.items()]).parse(path)
    languages = re.findall(r"^```(\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    examples = list(document.examples())
    assert len(examples) == len(languages) > 5
    for example in examples:
        example.evaluate()
    for name in re.findall(rf"\]\({path.stem}-(.+\.svg)\)", path.read_text(encoding="utf-8")):
        assert labels(Path(name)) == labels(FOLDER / f"{path.stem}-{name}"), "draw it anew"


def labels(figure: Path) -> list[str]:
    """Return what the marks of a figure stand for, numbers with four decimals."""
    texts = re.findall(r'aria-label="([^"]*)"', figure.read_text(encoding="utf-8"))
    assert texts
    return [re.sub(r"\d+\.\d+", lambda number: f"{float(number[0]):.4f}", text) for text in texts]


def test_there_is_a_tutorial_for_each_reader() -> None:
    assert {path.stem for path in TUTORIALS} == {"engineer", "psychologist", "auditor"}


@pytest.mark.parametrize(
    ("expected", "output", "same"),
    [
        ("a\nb", "a\nb\n", True),
        ("", "", True),
        ("", "a", False),
        ("a … c", "a b c", True),
        ("a\n…\nd", "a\nb\nc\nd", True),
        ("…\nd", "d", True),
        ("a … c", "a b d", False),
        ("a", "a\nb", False),
        ("a.", "ab", False),
    ],
)
def test_what_a_page_may_leave_out(expected: str, output: str, same: bool) -> None:
    assert (differs(expected, output) is None) == same


def test_a_wrong_command_output_or_exit_code_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for number, block in enumerate(("$ echo a\nb\n", "$ false\n", "$ no-such-command\n")):
        page = tmp_path / f"{number}.md"
        page.write_text(f"```console\n{block}```\n", encoding="utf-8")
        (example,) = Sybil([CodeBlockParser("console", run_console)]).parse(page).examples()
        with pytest.raises(Exception, match="the page shows|exit code"):
            example.evaluate()
