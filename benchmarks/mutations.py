"""Whether the tests notice a wrong line.

Question
    Of 40 small changes of the source, drawn by a seed, after how many does a test fail?
Peer
    None. Some changes make no difference to anything that the program does; which, a reader of
    those that survive has to say.
How
    In a copy of the last commit a comparison, an operator, a number or a truth value of one
    function is changed, one at a time. Run are the tests named as its file is, then those of its
    room, until one fails. ``python -m benchmarks.mutations FROM TO`` tries a part, with the numbers
    from 0, and says what survives.
"""

from __future__ import annotations

import ast
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard

from benchmarks.measuring import REPOSITORY, Result, Value

SEED = 20261130
TRIED = 40
LONGEST_S = 900
PACKAGES = ("src/clinometer", "src/clinometer_measures")

#: What an operator becomes.
_OPERATORS: dict[type[ast.AST], type[Any]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.And: ast.Or,
    ast.Or: ast.And,
}


@dataclass(frozen=True)
class Mutation:
    """A change of one node: the number of the node among those of its file that can be changed."""

    path: str
    node: int
    line: int
    text: str


def main(arguments: list[str]) -> None:
    """Try a part of the mutations, and print a line for each."""
    first, last = map(int, arguments) if arguments else (0, TRIED)
    for row in _try(draw()[first:last]):
        sys.stdout.write(f"{row}\n")
        sys.stdout.flush()


def run() -> Result:
    """Try all mutations."""
    rows = [*_try(draw())]
    caught = sum(row[-1] != "survived" for row in rows)
    return Result(
        "Small changes of the source that a test notices",
        ("file", "line", "change", "noticed by"),
        rows,
        {f"{caught} of {len(rows)} are noticed": caught >= 0.9 * len(rows)},
    )


def draw() -> list[Mutation]:
    """Draw mutations of files that have tests of their room."""
    everything = [mutation for path in _files() for mutation in mutations_of(path)]
    return random.Random(SEED).sample(everything, TRIED)


def _files() -> Iterator[str]:
    for package in PACKAGES:
        for path in sorted((REPOSITORY / package).rglob("*.py")):
            name = str(path.relative_to(REPOSITORY))
            if find_tests(name):
                yield name


def find_tests(path: str) -> list[str]:
    """Return the tests of a file: those that are named like it, then those of its room."""
    package, *rooms, file = Path(path).relative_to("src").parts
    stem = Path(file).stem
    name = rooms[0] if rooms else stem
    places = [f"tests/{name}", f"tests/families/{name}", f"tests/test_{name}.py"]
    if package == "clinometer_measures":
        places += [str(p.relative_to(REPOSITORY)) for p in _like(f"instruments/test_{name}")]
        places += [str(p.relative_to(REPOSITORY)) for p in _like(f"instruments/test_{stem}")]
    places = [place for place in dict.fromkeys(places) if (REPOSITORY / place).exists()]
    near = [p for place in places for p in (REPOSITORY / place).rglob(f"test_{stem}.py")]
    return [*(str(p.relative_to(REPOSITORY)) for p in near), *places]


def _like(beginning: str) -> list[Path]:
    return sorted((REPOSITORY / "tests").glob(f"{beginning}*.py"))


def mutations_of(path: str) -> Iterator[Mutation]:
    """Yield what can be changed of a file."""
    tree = ast.parse((REPOSITORY / path).read_text(encoding="utf-8"))
    for number, node in enumerate(_changeable(tree)):
        before = ast.unparse(node)
        _change(node)
        yield Mutation(path, number, node.lineno, f"{before} → {ast.unparse(node)}")


def _changeable(tree: ast.AST) -> list[ast.expr]:
    """Return the nodes of functions that can be changed, annotations left out."""
    nodes: list[ast.expr] = []
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for statement in function.body:
                nodes += filter(_is_changeable, ast.walk(statement))
    return list({id(node): node for node in nodes}.values())


def _is_changeable(node: ast.AST) -> TypeGuard[ast.expr]:
    match node:
        case ast.Compare(ops=[operator]):
            return type(operator) in _OPERATORS
        case ast.BinOp(op=operator) | ast.BoolOp(op=operator):
            return type(operator) in _OPERATORS
        case ast.Constant(value=bool() | int() | float()):
            return True
    return False


def _change(node: ast.expr) -> None:
    """Change a node in place."""
    match node:
        case ast.Compare(ops=[operator]):
            node.ops = [_OPERATORS[type(operator)]()]
        case ast.BinOp(op=operator) | ast.BoolOp(op=operator):
            node.op = _OPERATORS[type(operator)]()
        case ast.Constant(value=bool() as truth):
            node.value = not truth
        case ast.Constant(value=int() | float() as number):
            node.value = number + 1


def _try(mutations: list[Mutation]) -> Iterator[list[Value]]:
    """Yield what notices each mutation."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        git = ["git", "-C", str(REPOSITORY), "worktree"]
        subprocess.run([*git, "add", "-q", "--detach", str(copy), "HEAD"], check=True)
        try:
            for mutation in mutations:
                noticed = _noticed(mutation, copy)
                yield [mutation.path, mutation.line, mutation.text, noticed or "survived"]
        finally:
            subprocess.run([*git, "remove", "--force", str(copy)], check=True)


def _noticed(mutation: Mutation, copy: Path) -> str:
    """Return which tests fail of a mutation; empty if none does."""
    path = copy / mutation.path
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    _change(_changeable(tree)[mutation.node])
    path.write_text(ast.unparse(tree), encoding="utf-8")
    try:
        for tests in find_tests(mutation.path):
            if not _passes(tests, copy):
                return tests
    finally:
        path.write_text(text, encoding="utf-8")
    return ""


def _passes(tests: str, copy: Path) -> bool:
    environment = {"PYTHONPATH": f"{copy / 'src'}{os.pathsep}{copy}", "OMP_NUM_THREADS": "1"}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
    ]
    try:
        done = subprocess.run(
            [*command, "-m", "not slow", tests],
            cwd=copy,
            env={**os.environ, **environment},
            capture_output=True,
            timeout=LONGEST_S,
            check=False,
        )
    except subprocess.TimeoutExpired:  # an endless loop is noticed, too
        return False
    return done.returncode in (0, 5)  # 5: no test was chosen


if __name__ == "__main__":
    main(sys.argv[1:])
