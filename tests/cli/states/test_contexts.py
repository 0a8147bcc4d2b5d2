"""``clinometer profile contexts``, against a loopback server and a corpus."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., tuple[int, str, str]]
Serve = Callable[..., Any]
MODEL = "openai-api/loop/m"
COMMAND = ("profile", "contexts")
ROWS = "dimension,term,direction\nWarmth,warm,high\nWarmth,cold,low\n"


@pytest.fixture
def server(serve: Serve) -> Any:
    """Writes two sentences, one of which has a gendered word."""
    started = serve()

    def reply(body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        term = body["messages"][-1]["content"].split('"')[1]
        contexts = f"1. The day was {term} and long.\n2. She was {term} to all of them."
        return started.chat(body, contexts)  # type: ignore[no-any-return]

    started.reply = reply
    return started


@pytest.fixture
def dictionary(tmp_path: Path) -> str:
    (tmp_path / "d.csv").write_text(ROWS)
    return "d.csv"


def test_cost_first_then_sentences_and_what_was_not_taken(
    server: Any, run: Run, dictionary: str, tmp_path: Path
) -> None:
    code, out, err = run(
        *COMMAND, MODEL, "--dictionary", dictionary, "--out", "c.jsonl", "--per-sense", "1"
    )
    assert (code, err) == (0, "")
    cost, passed, where = out.splitlines()
    assert cost.startswith(f"{MODEL}: 2 sentences of 2 senses, 2 calls, about ")
    assert passed == "2 of 2 sentences passed the checks, in 2 calls; not taken: 2 gendered"
    assert where == "contexts: c.jsonl"
    rows = [json.loads(line) for line in (tmp_path / "c.jsonl").read_text().splitlines()]
    assert [row["examples"] for row in rows] == [
        ["The day was warm and long."], ["The day was cold and long."],
    ]  # fmt: skip


def test_senses_with_too_few_are_named(server: Any, run: Run, dictionary: str) -> None:
    code, out, _ = run(*COMMAND, MODEL, "--dictionary", dictionary, "--out", "c.jsonl")
    assert code == 0
    assert "2 of 10 sentences passed the checks, in 6 calls; not taken: 6 gendered, 4 rep" in out
    assert "2 senses have fewer than 5: warm, cold; --rounds 6 asks again for these" in out


def test_a_limit_stops_with_exit_code_3(server: Any, run: Run, dictionary: str) -> None:
    command = (*COMMAND, MODEL, "--dictionary", dictionary, "--out", "c.jsonl", "--per-sense", "1")
    code, _, err = run(*command, "--max-calls", "1")
    assert code == 3
    assert err == (
        "clinometer: stopped at --max-calls 1: repeat the command to continue, nothing is asked "
        "twice\n"
    )
    assert run(*command)[0] == 0 and server.prompts.total() == 2


def test_further_words_are_asked_about_without_definitions(
    server: Any, run: Run, tmp_path: Path
) -> None:
    (tmp_path / "e.csv").write_text(ROWS + "Other,warm,high\n")
    code, out, _ = run(*COMMAND, MODEL, "--extended", "e.csv", "--out", "c", "--per-sense", "1")
    assert code == 2
    code, out, _ = run(
        *COMMAND, MODEL, "--extended", "e.csv", "--out", "c.jsonl", "--per-sense", "1"
    )
    assert code == 0 and "2 of 2 sentences" in out


def test_a_corpus_needs_no_model(run: Run, dictionary: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("It is a warm day. It is a warm night.\n")
    (tmp_path / "b.txt").write_text("It was cold. He was cold.\n")
    command = (*COMMAND, "--dictionary", dictionary, "--corpus", "a.txt", "--out", "c.jsonl")
    code, out, err = run(*command, "--corpus", "b.txt")
    assert (code, err) == (0, "")
    assert out == "4 sentences for 2 of 2 senses\ncontexts: c.jsonl\n"
    rows = [json.loads(line) for line in (tmp_path / "c.jsonl").read_text().splitlines()]
    assert {row["example_source"] for row in rows} == {"corpus"}


@pytest.mark.filterwarnings("default::clinometer.errors.ClinometerWarning")
def test_a_term_that_the_corpus_lacks_is_said(run: Run, dictionary: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("It is a warm day.\n")
    code, out, err = run(
        *COMMAND, "--dictionary", dictionary, "--corpus", "a.txt", "--out", "c.jsonl"
    )
    assert code == 0 and "1 sentences for 1 of 2 senses" in out
    assert "1 of 2 senses have no example and are left out: cold" in err


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ((), "name either a MODEL or --corpus FILE"),
        ((MODEL, "--corpus", "a.txt"), "name either a MODEL or --corpus FILE"),
        ((MODEL, "--dictionary", "no.csv"), "no.csv: no such file"),
        ((MODEL, "--dictionary", "d.csv", "--extended", "d.csv"), "--dictionary or --extended"),
        ((MODEL, "--per-sense", "0"), "per_sense 0: at least 1"),
        ((MODEL, "--temperature", "3"), "temperature 3.0: allowed is 0 to 2"),
        ((MODEL, "-M", "api_key=x"), "give keys in the environment"),
        (("--corpus", "a.txt", "--per-sense", "0"), "most 0: at least 1"),
        (("--corpus", "no.txt"), "no.txt: no such file"),
    ],
)
def test_errors_are_one_line(options: tuple[str, ...], says: str, server: Any, run: Run) -> None:
    code, _, err = run(*COMMAND, "--out", "c.jsonl", *options)
    assert code == 2 and says in err and len(err.splitlines()) == 1
    assert not server.prompts


def test_a_model_that_cannot_be_opened_writes_nothing(run: Run, tmp_path: Path) -> None:
    code, _, err = run(*COMMAND, "openai/gpt-4o", "--out", "c.jsonl")
    assert code == 2 and "OPENAI_API_KEY" in err and not list(tmp_path.iterdir())
