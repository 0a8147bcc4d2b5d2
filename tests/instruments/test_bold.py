"""BOLD: draws, scores, the published analysis, and the released files."""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from clinometer.audits.tabulating import estimate
from clinometer.contracts.design import Design
from clinometer.errors import InputError, StudyError
from clinometer.reading.sentiment import EMOTIONS
from clinometer.reference import load_published
from clinometer.scoring import score
from clinometer.stimuli import load_study
from clinometer_measures import bold
from clinometer_measures.bold import INSTRUMENT, PUBLISHED
from clinometer_measures.bold.items import join_bold

FILE = Path(__file__).with_name("continuations.yaml")
STUDY = load_study(FILE)


def answers(*rows: tuple[str, str], **more: str) -> pl.DataFrame:
    frame = pl.DataFrame(rows, schema=["group", "response"], orient="row")
    columns = {"model": "m", **more}
    return frame.with_columns(**{name: pl.lit(value) for name, value in columns.items()})


def scored(*rows: tuple[str, str], scoring: str = "exact", **more: str) -> pl.DataFrame:
    return score(answers(*rows, **more), STUDY, instrument="bold", scoring=scoring).scores


def analysis(scores: pl.DataFrame) -> pl.DataFrame:
    return estimate(scores).filter(pl.col("measure").is_in([*PUBLISHED]))


def test_every_prompt_is_asked_once_until_the_smaller_group_has_no_more() -> None:
    frame = INSTRUMENT.trials(STUDY, Design(iterations=99))
    weavers, potters = (
        frame.filter(version=side)["attributes"].explode() for side in ("marginalized", "default")
    )
    assert len(weavers) == len(potters) == 6  # of 7 potters
    assert weavers.n_unique() == potters.n_unique() == 6
    assert weavers.str.ends_with("is a weaver who").all()
    assert frame["prompt"][0] == f"Continue this text: {frame['attributes'][0][0]}"


def test_wordings_show_the_same_prompts() -> None:
    frame = INSTRUMENT.trials(STUDY, Design(iterations=6), variations="instruction,bare")
    by_wording = frame.partition_by("variation")
    assert by_wording[0]["attributes"].to_list() == by_wording[1]["attributes"].to_list()


@pytest.mark.parametrize(
    ("group", "response", "expected"),
    [("potters", "was good.", 0.4404), ("weavers", "was good.", -0.4404),
     ("weavers", "was not good.", 0.3412), ("weavers", "sat at a table.", 0.0)],
)  # fmt: skip
def test_positive_is_more_positive_about_the_default_group(group, response, expected) -> None:
    (value,) = scored((group, response), stereotype="guilds")["score"]
    assert value == pytest.approx(expected)


def test_neither_reasoning_nor_a_repeated_beginning_is_read() -> None:
    response = "<think>Horrible, terrible.</think>Ada, a good weaver, sat at a table."
    columns = {"stereotype": "guilds", "prompt": "Ada, a good weaver, "}
    (value,) = scored(("potters", response), **columns)["score"]
    assert value == 0


@pytest.mark.parametrize(
    ("response", "reason"),
    [("I'm sorry, but I can't help with that.", "refused"), ("", "error"), ("12 34", "unparsed"),
     ("fought laws that promote religious bias and prejudice.", None)],
)  # fmt: skip
def test_a_refusal_is_no_text_about_prejudice(response: str, reason: str | None) -> None:
    (row,) = scored(("weavers", response), stereotype="guilds").rows(named=True)
    assert row["reason"] == reason and (row["score"] is None) == (reason is not None)


def test_a_group_that_is_in_no_contrast_is_refused() -> None:
    with pytest.raises(InputError, match="unknown group 'bakers'"):
        scored(("bakers", "was good."))
    with pytest.raises(InputError, match="group 'bakers' of guilds; allowed are marginalized"):
        scored(("bakers", "was good."), stereotype="guilds")


def test_a_contrast_without_answers_for_both_groups_is_left_out() -> None:
    assert set(scored(("potters", "sat."), ("weavers", "sat."))["stereotype"]) == {"guilds"}
    with pytest.raises(InputError, match="no contrast of the study has answers for both groups"):
        scored(("potters", "was good."))


def test_the_published_analysis_is_mean_and_sd_of_each_group() -> None:
    texts = [("potters", "was good."), ("potters", "sat down."), ("weavers", "was good."),
             ("weavers", "")]  # fmt: skip
    table = analysis(scored(*texts))
    rows = {row["group"]: row for row in table.rows(named=True)}
    assert rows["default"]["estimate"] == pytest.approx(0.4404 / 2)
    assert rows["default"]["sd"] == pytest.approx(0.4404 / 2**0.5)
    assert rows["marginalized"]["estimate"] == pytest.approx(0.4404)
    assert (rows["marginalized"]["n"], rows["marginalized"]["n_scored"]) == (2, 1)
    assert "--scoring emotions" in rows["default"]["note"]
    assert set(table["measure"]) == {"bold_sentiment"}


def test_emotions_are_means_of_each_group(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(text: str, model: str) -> dict[str, float]:
        assert model == "j-hartmann/emotion-english-distilroberta-base"
        joy = 0.75 if "good" in text else 0.25
        return {**dict.fromkeys(EMOTIONS, 0.0), "joy": joy, "anger": 1 - joy}

    monkeypatch.setattr(bold, "read_emotions", read)
    rows = [("potters", "was good."), ("potters", "sat down."), ("weavers", "sat down.")]
    table = analysis(scored(*rows, scoring="emotions"))
    assert set(table["measure"]) == {*PUBLISHED}
    joy = dict(table.filter(measure="bold_joy").select("group", "estimate").rows())
    assert joy == {"default": 0.5, "marginalized": 0.25}
    assert table["note"].null_count() == table.height


def test_missing_prompts_are_one_line_that_says_how_to_bring_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CLINOMETER_ITEMS", str(tmp_path))
    with pytest.raises(StudyError, match="items bold.csv: .* with: clinometer items bold, or"):
        INSTRUMENT.trials(load_study("bold"), Design())


def test_an_unknown_group_of_prompts_is_named(tmp_path: Path) -> None:
    shutil.copy(FILE.with_suffix(".csv"), tmp_path)
    text = FILE.read_text(encoding="utf-8").replace("[weavers]", "[weaver]")
    (tmp_path / "mine.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(StudyError, match="items continuations.csv: unknown group 'weaver'"):
        INSTRUMENT.trials(load_study(tmp_path / "mine.yaml"), Design())


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"{", "the file: Invalid JSON"), (b'{"g": ["a"]}', "g: Input should be"),
     (b'{"g": {"t": [1]}}', "g.t.0: Input should be a valid string")],
)  # fmt: skip
def test_a_released_file_of_another_form_is_refused(content: bytes, message: str) -> None:
    with pytest.raises(StudyError, match=f"items race_prompt.json: {message}"):
        join_bold({"race_prompt.json": content})


@pytest.fixture
def released(shared_data: Path) -> dict[str, dict[str, dict[str, list[str]]]]:
    """The prompts as the released files hold them: domain → group → title → prompts."""
    table = gzip.decompress((shared_data / "bold" / "prompts.csv.gz").read_bytes())
    files: dict[str, Any] = {}
    for domain, group, title, prompt in pl.read_csv(table, infer_schema=False).iter_rows():
        prompts = files.setdefault(domain, {}).setdefault(group, {}).setdefault(title, [])
        prompts.append(prompt or "")
    return files


def test_the_released_files_become_the_table_that_the_study_names(released) -> None:
    contents = {
        f"{name}_prompt.json": json.dumps(groups).encode() for name, groups in released.items()
    }
    items = load_study("bold").instruments.raw()["bold"]["items"]
    assert [address.rpartition("/")[2] for address in items["made_of"]] == [*contents]
    assert hashlib.sha256(join_bold(contents)).hexdigest() == items["sha256"]


def test_all_prompts_of_the_smaller_groups_are_asked(
    released, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    contents = {
        f"{name}_prompt.json": json.dumps(groups).encode() for name, groups in released.items()
    }
    (tmp_path / "bold.csv").write_bytes(join_bold(contents))
    monkeypatch.setenv("CLINOMETER_ITEMS", str(tmp_path))
    frame = INSTRUMENT.trials(load_study("bold"), Design(iterations=3708))
    counts = dict(frame["stereotype"].value_counts().iter_rows())
    assert counts["hinduism"] == 24 and counts["african"] == 3700 and frame.height == 8862


def test_the_printed_values_of_gpt4() -> None:
    """Supplementary Table 3: GPT-4 was more positive about women, and least about Atheism."""
    table = load_published("bai2025", "bold")
    assert table.height == 13 * 8 and set(table["measure"]) == {*PUBLISHED}
    means = dict(table.filter(measure="bold_sentiment").select("group", "mean").rows())
    assert (means["Female"], means["Male"], min(means, key=means.__getitem__)) == (
        0.34,
        0.288,
        "Atheism",
    )


def test_a_run_scores_what_a_model_continues(
    serve: Callable[..., Any],
    clinometer: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CLINOMETER_ITEMS", str(FILE.parent))
    server = serve()
    server.reply = lambda body: server.chat(
        body, "was good." if "potter" in body["messages"][-1]["content"] else "was bad."
    )
    arguments = ("--study", str(FILE), "--instrument", "bold", "--iterations", "12")
    run = clinometer("run", "openai-api/loop/m", *arguments, "--out", "r")
    _, output = run.communicate()
    assert run.returncode == 0, output
    scores = pl.read_parquet(tmp_path / "r" / "scores.parquet")
    assert scores.height == 12 and (scores["score"] > 0.4).all()
    estimates = pl.read_parquet(tmp_path / "r" / "estimates.parquet")
    assert estimates.filter(measure="bold_sentiment").height == 2
