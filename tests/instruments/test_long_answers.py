"""Answers of megabytes: time and memory are bounded, and what is read stands at either end."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import polars as pl
import pytest

from clinometer.audits.recording import audit_recorded
from clinometer.contracts.catalogue import INSTRUMENTS
from clinometer.contracts.design import Design
from clinometer.reading.cleaning import LONGEST, readable
from clinometer.report import write_report
from clinometer.scoring import score
from clinometer.stimuli import load_study
from waiting import grows_linearly

SIZE = 5_000_000
#: What an answer repeats.
REPEATED = {
    "letters": "abcdefghij",
    "words": "lorem ipsum ",
    "lines": "- x\n",
    "pairs": "agony - old\njoy - young\n",
    "brackets": "[",
    "objects": '{"a":',
    "groups": "old young ",
    "emoji": "👩‍👩‍👧😀",
    "combining": "\u0301\u0323",
    "sentences": "The old man should lead agony, not the young one. ",
    "headings": "Task 1:\n",
}
STUDIES = {name: instrument.study for name, instrument in INSTRUMENTS.items()}
STUDIES["bold"] = str(Path(__file__).with_name("continuations.yaml"))  # its prompts are brought
#: Instruments whose texts are read as those of another: its options, yes or no, steps of a scale,
#: or a flag.
READ_ALIKE = (
    "framings",
    "hiring",
    "hypothetical_decision",
    "matched_guise",
    "self_moderation_decision",
    "self_report_comparison",
)
LINES = "weak - karen\ntimid - karen\nfollow - karen\nsubmissive - karen\n"
MORE = "strong - eric\ncommand - eric\nconfident - eric\ndominant - eric"


def long(text: str, size: int = SIZE) -> str:
    return text * (size // len(text))


@cache
def trial(name: str) -> pl.DataFrame:
    unknown = {c: pl.lit(None, pl.String) for c in ("stop_reason", "error")}
    first_trial = INSTRUMENTS[name].trials(load_study(STUDIES[name]), Design(iterations=2)).head(1)
    return first_trial.with_columns(model=pl.lit("m"), **unknown)


@pytest.mark.parametrize("kind", REPEATED)
@pytest.mark.parametrize("name", [name for name in INSTRUMENTS if name not in READ_ALIKE])
def test_time_is_linear_in_what_is_read_of_an_answer(name: str, kind: str) -> None:
    study = load_study(STUDIES[name])

    def scored(size: int) -> None:
        text = pl.lit(long(REPEATED[kind], size))
        answer = trial(name).with_columns(response=text, profile=text)
        assert score(answer, study, instrument=name).scores.height >= 1

    scored(1_000)
    assert grows_linearly(scored, 6_250, least=100)


def test_an_answer_is_read_at_either_end() -> None:
    more = long("x y " * 25 + "\n")
    answers = [LINES + MORE, LINES + MORE + "\n" + more, more + LINES + MORE, LINES + more + MORE]
    table = pl.DataFrame({"model": "m", "stereotype": "power", "variation": "replication",
                          "iteration": range(4), "response": answers})  # fmt: skip
    scores, _ = score(table, "bai2025")
    assert scores["score"].to_list() == [1.0] * 4


def test_only_what_is_longer_is_cut() -> None:
    text = "a" * (LONGEST - 1) + "b"
    assert readable(text) is text
    assert len(readable(text + "c")) == LONGEST + 1
    assert readable(text + "c").endswith("bc")


def test_long_answers_do_not_make_a_long_report(tmp_path: Path) -> None:
    texts = [long(REPEATED[kind]) for kind in ("letters", "emoji", "pairs")] + [LINES + MORE]
    table = pl.DataFrame({"model": "m", "stereotype": "power", "variation": "replication",
                          "iteration": range(4), "response": texts})  # fmt: skip
    audit_recorded(table, tmp_path / "r")
    assert write_report(tmp_path / "r").stat().st_size < 3_000_000


@pytest.mark.slow
def test_time_is_linear_in_the_number_of_wordings() -> None:
    study = load_study("bai2025")
    association = study.instruments.word_association
    wording = association.variations["replication"]

    def score_wordings(wordings: int) -> None:
        variations = {f"w{number}": wording for number in range(wordings)}
        part = association.model_copy(
            update={"variations": variations, "default_variations": list(variations)}
        )
        parts = study.instruments.model_copy(update={"word_association": part})
        answers = {
            "model": "m",
            "stereotype": "power",
            "variation": list(variations),
            "response": "x",
        }
        score(pl.DataFrame(answers), study.model_copy(update={"instruments": parts}))

    assert grows_linearly(score_wordings, 400)
