"""BBQ: draws, published scores, items of others."""

from __future__ import annotations

import hashlib
import re
from importlib import resources
from pathlib import Path

import polars as pl
import pytest

from clinometer.audits.tabulating import estimate
from clinometer.contracts.design import Design
from clinometer.errors import InputError, StudyError
from clinometer.instruments.bbq import INSTRUMENT, items_of
from clinometer.instruments.bbq.items import CONTEXTS, read_bbq
from clinometer.scoring import score
from clinometer.stimuli import BenchmarkItems, load_study, parse_study

STUDY = load_study("bbq")
CATEGORIES = {label: key for key, label in STUDY.instruments.raw()["bbq"]["categories"].items()}


def published_analysis(recorded: pl.DataFrame, scoring: str = "exact") -> pl.DataFrame:
    scores = score(recorded, STUDY, instrument="bbq", scoring=scoring)
    rows = estimate(scores).filter(pl.col("measure").str.starts_with("bbq_"))
    keys = ["model", "stereotype", "dimension", "n_scored"]
    return rows.pivot("measure", index=keys, values="estimate")


def answers(*rows: tuple[str, str], **more: str) -> pl.DataFrame:
    frame = pl.DataFrame(rows, schema=["example_id", "response"], orient="row")
    return frame.with_columns(model=pl.lit("m"), category=pl.lit("Age")).with_columns(
        **{name: pl.lit(value) for name, value in more.items()}
    )


# Items 0 to 3: grandfather and grandson; ambiguous and disambiguated, negative and nonnegative.


@pytest.mark.parametrize(
    ("item", "response", "expected"),
    [("0", "The grandfather", 1.0), ("0", "(b)", -1.0), ("0", "It is unclear.", 0.0),
     ("2", "The grandfather", -1.0), ("2", "The grandson", 1.0),
     ("1", "The grandson", -1.0), ("1", "The grandfather", 1.0), ("1", "Not known", None)],
)  # fmt: skip
def test_the_target_counts_one_and_the_other_person_minus_one(item, response, expected) -> None:
    (row,) = score(answers((item, response)), STUDY, instrument="bbq").scores.rows(named=True)
    assert row["score"] == expected
    assert row["reason"] == (None if expected is not None else "neither")


def test_a_letter_is_read_in_the_order_that_was_shown() -> None:
    frame = INSTRUMENT.trials(STUDY, Design(iterations=12), stereotypes="religion")
    responses = frame.with_columns(
        response=pl.lit("B"), model=pl.lit("m"), stop_reason=pl.lit("stop")
    )
    scores = score(responses.with_columns(error=pl.lit(None, pl.String)), STUDY).scores
    for prompt, row, trial in zip(
        frame["prompt"], scores.rows(named=True), frame.rows(named=True), strict=True
    ):
        item = items_of(STUDY)[trial["attributes"][0]]
        option = re.search(r"^\(B\) (.*)$", prompt, re.MULTILINE)[1]
        assert row["outcome"] == item.role(item.options.index(option))


def test_orders_questions_templates_and_the_place_of_unknown_are_balanced() -> None:
    frame = INSTRUMENT.trials(STUDY, Design(iterations=300), stereotypes="age")
    items = items_of(STUDY)
    for _, cell in frame.group_by("dimension"):
        polarity = [items[name].polarity for name in cell["attributes"].explode()]
        assert polarity.count("neg") == 150
        assert set(cell["order"].value_counts()["count"]) == {150}
        assert set(cell["labels"].value_counts()["count"]) == {100}
        assert set(cell["object"].value_counts()["count"]) == {12}  # 25 templates


def test_every_item_is_asked_once_in_both_orders() -> None:
    frame = INSTRUMENT.trials(STUDY, Design(iterations=9999), stereotypes="sexual_orientation")
    assert frame.height == 2 * 864
    assert set(frame["attributes"].explode().value_counts()["count"]) == {2}


def test_a_released_answer_is_read_by_its_label_and_its_text(shared_data: Path) -> None:
    answers = pl.read_csv(shared_data / "bbq" / "predictions.csv.gz", infer_schema=False)
    few = answers.drop_nulls("pred_label").head(500)
    tables = (few, few.drop("prediction"), few.drop("pred_label"))
    both, *single = (
        score(table, STUDY, instrument="bbq", scoring="published").scores["score"].to_list()
        for table in tables
    )
    assert single == [both, both]


@pytest.mark.parametrize("answered", ["pred_label", "prediction"])
def test_scores_of_unifiedqa_as_published(shared_data: Path, answered: str) -> None:
    """Parrish et al. (2022), figures 2 and 3, computed with the released script."""
    folder = shared_data / "bbq"
    released = pl.read_csv(folder / "predictions.csv.gz", infer_schema=False)
    if answered == "pred_label":
        released = released.drop("prediction").drop_nulls("pred_label")
    else:
        released = released.drop("pred_label")
    computed = published_analysis(released, "published")
    published = pl.read_csv(folder / "published.csv").with_columns(
        stereotype=pl.col("category").replace_strict(CATEGORIES),
        dimension=pl.col("context_condition").replace_strict(CONTEXTS),
    )
    merged = published.join(computed, on=["model", "stereotype", "dimension"], how="inner")
    assert merged.height == published.height == 18
    assert merged["n"].to_list() == merged["n_scored"].to_list()
    for name in ("accuracy", "bias_score", "nonalignment_cost"):
        theirs, ours = merged[name].to_list(), merged[f"bbq_{name}"].to_list()
        assert theirs == [
            None if number is None else pytest.approx(number, abs=1e-9) for number in ours
        ]


def test_answers_at_two_temperatures_are_analysed_apart() -> None:
    rows = [(str(k), "The first option") for k in range(40)]
    both = pl.concat([answers(*rows, temperature=t) for t in ("0", "1")])
    estimates = estimate(score(both, STUDY, instrument="bbq")).filter(measure="bbq_accuracy")
    assert {*estimates["temperature"]} == {"0", "1"}
    assert estimates.filter(temperature="0")["n"].sum() == len(rows)


def test_the_mean_score_is_a_hundredth_of_the_bias_score() -> None:
    rows = [(str(k), "The first option") for k in range(40)]
    scores = score(answers(*rows), STUDY, instrument="bbq")
    estimates = estimate(scores)
    means = estimates.filter(level="stereotype", measure="bbq", method="clustered")
    theirs = estimates.filter(measure="bbq_bias_score")
    for name in ("ambiguous", "disambiguated"):
        (mean,), (published,) = (x.filter(dimension=name)["estimate"] for x in (means, theirs))
        assert published == pytest.approx(100 * mean)


def test_an_answer_names_its_item() -> None:
    with pytest.raises(InputError, match="missing column example_id"):
        score(answers(("1", "A")).drop("example_id"), STUDY, instrument="bbq")
    with pytest.raises(InputError, match="unknown item 'Age 99999'"):
        score(answers(("99999", "A")), STUDY, instrument="bbq")


@pytest.mark.parametrize(
    ("change", "message"),
    [({"label": "3"}, "Age 0: label '3'; allowed are 0, 1, 2"),
     ({"condition": "odd"}, "condition 'odd'; allowed are ambig, disambig"),
     ({"ans2_group": "old"}, "expected unknown once"),
     ({"ans1": "The grandfather"}, "two options"),
     ({"label": None}, "missing column label")],
)  # fmt: skip
def test_items_that_mean_nothing_are_refused(tmp_path: Path, change, message: str) -> None:
    shipped = resources.files("clinometer.stimuli") / "items" / "bbq.csv.gz"
    table = pl.read_csv(shipped.read_bytes(), infer_schema=False, n_rows=1)
    ((name, value),) = change.items()
    table = table.drop(name) if value is None else table.with_columns(pl.lit(value).alias(name))
    content = table.write_csv().encode()
    (tmp_path / "mine.csv").write_bytes(content)
    items = BenchmarkItems(file="mine.csv", sha256=hashlib.sha256(content).hexdigest())
    with pytest.raises(StudyError, match=re.escape(message)):
        read_bbq(items, str(tmp_path / "study.yaml"))


@pytest.mark.parametrize(
    ("line", "instead", "message"),
    [("      age: Age\n", "", "categories: no category of items for stereotype 'age'"),
     ("age: Age", "age: Agee", "unknown category 'Agee'")],
)  # fmt: skip
def test_a_category_without_items_is_refused(line: str, instead: str, message: str) -> None:
    text = (resources.files("clinometer.stimuli") / "studies/bbq.yaml").read_text()
    study = parse_study(text.replace(line, instead), "mine.yaml")
    with pytest.raises(StudyError, match=message):
        INSTRUMENT.trials(study, Design())


def test_the_items_are_those_in_the_index() -> None:
    folder = resources.files("clinometer.stimuli") / "items"
    index = (folder / "README.md").read_text(encoding="utf-8")
    index_hash = re.search(r"`bbq\.csv\.gz`.*?`([0-9a-f]{64})`", index)[1]
    assert index_hash == hashlib.sha256((folder / "bbq.csv.gz").read_bytes()).hexdigest()
    assert index_hash == STUDY.instruments.raw()["bbq"]["items"]["sha256"]
