"""``clinometer list``, ``validate``, ``published``, ``cite`` and ``items``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl

from clinometer.audits.recording import audit_recorded

Run = Callable[..., tuple[int, str, str]]


def test_list_and_cite(run) -> None:
    assert "control_insects" in run("list")[1]
    assert "mentalill" in run("list", "bai2025")[1]
    assert "@article" in run("cite", "--bibtex")[1]


def test_cite_describes_a_run_with_what_is_left_out(run: Run) -> None:
    pairs = {"tied": "weak timid follow submissive", "counter": "strong command confident dominant"}
    lines = [f"{word} - karen" for word in pairs["tied"].split()]
    lines += [f"{word} - eric" for word in pairs["counter"].split()]
    answers = {"model": "m", "stereotype": "power", "variation": ["replication", "synonym"] * 4}
    # The wording of synonyms shows other words: its answers are none to it.
    texts = ["\n".join(lines)] * 7 + ["I'm sorry, but I can't help with that."]
    pl.DataFrame({**answers, "response": texts}).write_csv("a.csv")
    audit_recorded("a.csv", "r")
    code, stdout, _ = run("cite", "r")
    assert code == 0 and stdout.startswith(
        "The answers of m were recorded elsewhere. The LLM Word "
    )
    assert "1 stereotype (power) in 2 wordings (replication, synonym)" in stdout
    assert "4 have a score. Left out were 3 unparsed and 1 refused." in stdout
    assert "seed" not in stdout and "temperature" not in stdout  # are not known
    assert "Bai, X." in stdout and "Clinometer 0" in stdout
    Path("empty").mkdir()
    code, _, err = run("cite", "empty")
    assert code == 2 and "plan.json" in err and err.count("\n") == 1


def test_validate(run) -> None:
    Path("good.yaml").write_text(
        "name: pets\nstereotypes:\n  cats:\n    marginalized: [cat]\n    default: [dog]\n"
        "    tied: [aloof]\n    counter: [loyal]\n"
    )
    assert "good.yaml: valid; study pets, 1 stereotypes" in run("validate", "good.yaml")[1]
    Path("bad.yaml").write_text("name: pets\nstereotypes:\n  cats:\n    tied: [a, a]\n")
    code, _, err = run("validate", "bad.yaml")
    assert code == 2
    assert "bad.yaml:4: stereotypes.cats.tied: word 'a' stands twice" in err


def test_list_says_what_decisions_there_are(run: Run) -> None:
    everything = run("list")[1]
    for name in ("relative_decision", "absolute_decision", "chained_task"):
        assert name in everything
    study = run("list", "bai2025")[1]
    assert "variations of relative_decision" in study
    assert "accents (not by default)" in study
    assert "egalitarian" in study


def test_published_values_are_printed(run: Run) -> None:
    assert "bai2025" in run("published")[1] and "regressions" in run("published", "bai2025")[1]
    arguments = ("published", "bai2025", "word_association", "--table", "S7", "--model", "GPT-4")
    rows = run(*arguments)[1].splitlines()
    assert len(rows) == 23 and rows[1].startswith("S7,instruction1,Racism,race,cell,GPT-4,0.998,")
    assert "4 rows: s.csv" in run("published", "bai2025", "regressions", "--model",
                                  "LLaMA3-8B-Chat", "--out", "s.csv")[1]  # fmt: skip


def test_what_was_not_published_is_one_line(run: Run) -> None:
    for args, message in (
        (("bai2024",), "unknown study with published values 'bai2024'; did you mean bai2025"),
        (("bai2025", "word_association", "--table", "S70"), "known: S5, S6, S7, S8, S9"),
        (("abramski2025", "networks", "--model", "x"), "networks has no column model"),
    ):
        code, _, err = run("published", *args)
        assert code == 2 and message in err and err.count("\n") == 1


def test_items_are_listed_and_brought(run: Run, monkeypatch) -> None:
    monkeypatch.setenv("CLINOMETER_ITEMS", "items")
    listed = run("items")[1]
    assert "bbq.csv.gz: study bbq; CC BY 4.0; " in listed
    assert "bold.csv: study bold; CC BY-SA 4.0; not here: clinometer items bold" in listed
    assert "control_bold.csv: study control_insects; MIT (Clinometer); " in listed
    Path("empty").mkdir()
    assert "SES.jsonl: study bbq; not here: clinometer items bbq brings it from https" in listed
    brought = run("items", "bbq", "--from", "empty")[1].splitlines()
    assert brought[0] == "bbq.csv.gz: 11,956 items, as the study names them"
    assert brought[-1] == "SES.jsonl: not in empty"
    Path("empty/SES.jsonl").write_text("{}")
    code, _, err = run("items", "bbq", "--from", "empty")
    assert code == 2 and "SES.jsonl: not the released file" in err
    code, _, err = run("items", "bold", "--from", "empty")
    assert code == 2 and "gender_prompt.json: no such file" in err
    assert "study 'bai2025' names no items" in run("items", "bai2025")[2]
