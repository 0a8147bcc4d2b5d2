"""Tables about states in a results directory: what is measured, related and recorded."""

from __future__ import annotations

import json
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from clinometer.directory.results import all_tables, read_detail, read_estimates
from clinometer.errors import InputError, ModelError
from clinometer.report import write_report
from clinometer.results import ESTIMATES, SCORES
from clinometer.results.estimates import KEYS as ESTIMATE_KEYS
from clinometer_measures.states import word_tests
from clinometer_measures.states.contexts import InContext, in_prompt, place_terms, place_words
from clinometer_measures.states.dictionary import Dictionary, read_dictionary
from clinometer_measures.states.directory import measure_models, read_answers
from clinometer_measures.states.measuring import Profiling, Testing, measure_states
from clinometer_measures.states.profiles import ProfileSetting
from clinometer_measures.states.readers.states import HiddenStates
from clinometer_measures.states.word_tests import TestSetting, load_tests
from clinometer_measures.states.words import Words

WORDS = Words("pair", {"a": ("Ann", "Eve", "Amy"), "b": ("Bob", "Tom", "Jim")}, ("Kim",))
KEYS = ("age", "power", "career", "science")
AGE = [test for test in load_tests("bai2025") if test.stereotype in KEYS]


def profiling(**changes: Any) -> Profiling:
    dictionary = read_dictionary()
    defaults = {"dictionary": dictionary, "poles": [place_terms(dictionary)], "words": [WORDS]}
    return Profiling(**{**defaults, "setting": ProfileSetting(draws=50), **changes})


def asking(words: tuple[str, ...] = (), **changes: Any) -> Testing:
    placed = place_words([*word_tests.test_words(AGE), *words])
    return Testing(AGE, placed, **{"setting": TestSetting(draws=50), **changes})


def scores(**changes: Any) -> pl.DataFrame:
    rows = [
        {"model": "fake", "study": "bai2025", "instrument": "word_association", "mode": "free",
         "stereotype": key, "variation": "replication", "trial_id": f"{key}{n}", "iteration": n,
         "score": 0.2 * n - 0.1 * place, **changes}
        for place, key in enumerate(KEYS) for n in range(3)
    ]  # fmt: skip
    return pl.DataFrame(rows, schema_overrides=SCORES).with_columns(
        *(pl.lit(None, t).alias(c) for c, t in SCORES.items() if c not in rows[0])
    )


def test_every_look_has_its_rows_and_the_record_says_what_was_read(
    fake_reader: Callable[..., Any], tmp_path: Path
) -> None:
    readers = [fake_reader("one"), fake_reader("two")]
    tables = measure_models(readers, [profiling(), asking()], tmp_path, removed=(0, 2))
    assert read_estimates(tmp_path).equals(tables.estimates)
    assert dict(tables.estimates.schema) == ESTIMATES and set(tables.details) == {
        "state_contexts", "state_terms", "state_tests",
    }  # fmt: skip
    for name, table in tables.details.items():
        assert read_detail(tmp_path, name).equals(table)
        assert dict(table.schema) == all_tables()[name].schema
    by_model = [table for name, table in tables.details.items() if name != "state_contexts"]
    for table in (tables.estimates, *by_model):
        assert {*table.select("model", "removed").unique().rows()} == {
            (model, k) for model in ("one", "two") for k in (0, 2)
        }
    facts = json.loads((tmp_path / "states.json").read_text())
    assert [model["name"] for model in facts["models"]] == ["one", "two"]
    assert [fact["kind"] for fact in facts["contexts"]] == ["none"] and facts["dictionary"][
        "senses"
    ] == 192
    assert facts["tests"] == [{"study": "bai2025", "tests": 4}]
    assert str(tmp_path) not in json.dumps(facts)


def test_kinds_of_contexts_are_measured_as_each_would_be_alone(
    fake_reader: Callable[..., Any],
) -> None:
    dictionary = read_dictionary()
    kinds = [place_terms(dictionary, kind) for kind in ("none", "templates")]
    further = pl.DataFrame(
        [("jolly", "Sociability", "high"), ("mean", "Morality", "low"), ("lazy", "Agency", "low")],
        schema=["term", "dimension", "direction"],
        orient="row",
    )
    inside = [place_words(further["term"], kind) for kind in ("none", "templates")]
    joint = measure_states(
        fake_reader(), [profiling(poles=kinds, extended=further, extended_contexts=inside)]
    )
    for kind, further_contexts in zip(kinds, inside, strict=True):
        single = profiling(poles=[kind], extended=further, extended_contexts=[further_contexts])
        alone = measure_states(fake_reader(), [single])
        assert joint.estimates.filter(contexts=kind.kind).equals(alone.estimates)
        for name, table in alone.details.items():
            assert joint.details[name].filter(contexts=kind.kind).equals(table)
    accuracy = joint.estimates.filter(measure="direction_accuracy", dimension="all", layer="mean")
    assert set(accuracy["contexts"]) == {"none", "templates"}
    lengths = joint.details["state_contexts"].filter(role="held-out", property="contexts per term")
    assert lengths.select("contexts", "value", "n").rows() == [("none", 1, 3), ("templates", 7, 3)]


def test_a_table_of_an_earlier_look_does_not_stay(
    fake_reader: Callable[..., Any], tmp_path: Path
) -> None:
    measure_models([fake_reader()], [profiling(), asking()], tmp_path)
    measure_models([fake_reader()], [asking()], tmp_path)
    assert set(read_estimates(tmp_path)["instrument"]) == {"association_test"}
    assert not (tmp_path / "state_terms.parquet").exists()
    assert (tmp_path / "state_tests.parquet").exists()


def test_a_model_that_fails_leaves_the_tables_of_those_before(
    fake_reader: Callable[..., Any], tmp_path: Path
) -> None:
    def opened() -> Iterator[Any]:
        yield fake_reader("one")
        raise ModelError("model 'two': broken")

    with pytest.raises(ModelError):
        measure_models(opened(), [asking()], tmp_path)
    estimates = read_estimates(tmp_path)
    facts = json.loads((tmp_path / "states.json").read_text())
    assert set(estimates["model"]) == {"one"} and [m["name"] for m in facts["models"]] == ["one"]


def test_a_model_that_cannot_be_opened_leaves_no_folder(tmp_path: Path) -> None:
    def opened() -> Iterator[Any]:
        raise ModelError("model 'one': broken")
        yield

    with pytest.raises(ModelError):
        measure_models(opened(), [asking()], tmp_path / "new")
    with pytest.raises(ModelError):
        measure_models(opened(), [asking()], tmp_path)
    assert tmp_path.is_dir() and not (tmp_path / "new").exists()


def test_a_model_is_let_go_before_the_next_is_opened(
    fake_reader: Callable[..., Any], tmp_path: Path
) -> None:
    references: list[weakref.ref[Any]] = []

    def opened() -> Iterator[Any]:
        for name in ("one", "two", "three"):
            assert all(reference() is None for reference in references)
            reader = fake_reader(name)
            references.append(weakref.ref(reader))
            yield reader
            del reader

    measure_models(opened(), [profiling(), asking()], tmp_path)
    assert len(references) == 3


def test_two_models_of_one_name_are_refused(
    fake_reader: Callable[..., Any], tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="two are called 'one'"):
        measure_models([fake_reader("one")] * 2, [asking()], tmp_path)


def test_removing_components_changes_what_is_measured(fake_reader: Callable[..., Any]) -> None:
    estimates = measure_states(fake_reader(), [profiling()], removed=(0, 3)).estimates
    published = estimates.filter(measure="profile_difference", method="published")
    plain, without = (published.filter(removed=k)["estimate"] for k in (0, 3))
    assert (plain - without).abs().max() > 0.01
    alone = measure_states(fake_reader(), [profiling()]).estimates
    assert alone.equals(estimates.filter(removed=0))


def test_a_word_is_averaged_over_its_contexts_for_weat_and_not_for_ceat(
    fake_reader: Callable[..., Any],
) -> None:
    placed = place_words(word_tests.test_words(AGE), "templates")
    testing = Testing(AGE, placed, ("weat", "ceat"), setting=TestSetting(draws=0, samples=20))
    estimates = measure_states(fake_reader(), [testing]).estimates
    assert set(estimates["measure"]) == {"seat", "ceat"}
    averaged = fake_reader().read(placed.frame.with_columns(key=pl.col("term")))

    class Averaged:
        name, layers, fingerprint = "fake", averaged.layers, ""

        def read(self, contexts: pl.DataFrame) -> HiddenStates:
            return averaged

    plain = Testing(AGE, place_words(word_tests.test_words(AGE)), setting=TestSetting(draws=0))
    plain_estimates = measure_states(Averaged(), [plain]).estimates
    effect = estimates.filter(measure="seat")["estimate"]
    assert effect.to_list() == pytest.approx(plain_estimates["estimate"].to_list(), abs=1e-5)


def test_scores_of_a_table_are_related_by_stereotype(
    fake_reader: Callable[..., Any], tmp_path: Path
) -> None:
    scores().write_parquet(tmp_path / "scores.parquet")
    answers = read_answers(tmp_path / "scores.parquet")
    assert (answers.words, answers.mode, answers.studies) == (None, "free", ("bai2025",))
    estimates = measure_states(fake_reader(), [asking(answers=answers)]).estimates
    related = estimates.filter(measure="correlation", missing_as="left_out")
    assert set(related["level"]) == {"stereotype"} and set(related["n"]) == {4}
    weat = estimates.filter(measure="weat", alternative="greater", layer="1").sort("stereotype")
    means = scores().group_by("stereotype").agg(pl.col("score").mean()).sort("stereotype")
    r = pl.DataFrame({"x": weat["estimate"], "y": means["score"]}).select(pl.corr("x", "y")).item()
    assert related.filter(layer="1")["estimate"].item() == pytest.approx(r)


def test_decisions_are_related_with_each_number_of_components_removed(
    fake_reader: Callable[..., Any], tmp_path: Path
) -> None:
    associations = scores(instrument="chained_association")
    number = pl.int_range(pl.len())
    decided = scores(instrument="chained_decision").with_columns(
        score=(number % 2).cast(pl.Float64)
    )
    # A table of one's own may call the text of decisions what we call their score.
    all_scores = pl.concat([associations, decided]).with_columns(decision=pl.lit("Eric leads."))
    all_scores.write_parquet(tmp_path / "s.parquet")
    answers = read_answers(tmp_path / "s.parquet")
    assert answers.scores["decision"].drop_nulls().n_unique() == 2
    tables = measure_models(
        [fake_reader()], [asking(answers=answers)], tmp_path / "r", removed=(0, 2)
    )
    fits = tables.estimates.filter(measure="log_odds", missing_as="left_out", method="published")
    assert fits.select(list(ESTIMATE_KEYS)).is_duplicated().sum() == 0
    assert sorted(fits.select("predictor", "removed").unique().rows()) == [
        ("hidden_states", 0), ("hidden_states", 2), ("word_association", None)
    ]  # fmt: skip
    assert fits["n_scored"].n_unique() == 1  # all on the same rows
    alone = measure_states(fake_reader(), [asking(answers=answers)], removed=(2,)).estimates
    key = {"measure": "correlation", "missing_as": "left_out", "removed": 2}
    assert alone.filter(**key).equals(tables.estimates.filter(**key))
    assert "Table of decisions" in write_report(tmp_path / "r").read_text(encoding="utf-8")


def test_answers_are_related_to_the_states_of_other_models(
    fake_reader: Callable[..., Any], tmp_path: Path
) -> None:
    """As Bai et al. (2025) relate GPT-4 to two embedding models, SI section O."""
    two = [scores().with_columns(model=pl.lit(name)) for name in ("gpt-4", "gpt-5")]
    pl.concat(two).write_parquet(tmp_path / "s.parquet")
    answers = read_answers(tmp_path / "s.parquet")
    readers = [fake_reader(name) for name in ("small", "large", "gpt-5")]
    estimates = measure_models(readers, [asking(answers=answers)]).estimates
    related = estimates.filter(measure="correlation", missing_as="left_out", layer="1")
    assert set(related.select("subject", "model").rows()) == {
        *((subject, f"{subject}, in the states of {name}")
          for subject in ("gpt-4", "gpt-5") for name in ("small", "large")),
        ("gpt-5", "gpt-5"),
    }  # fmt: skip
    assert related.height == 5 and related["estimate"].round(6).n_unique() == 3


def test_the_words_of_tests_are_read_in_the_prompt(fake_reader: Callable[..., Any]) -> None:
    placed = InContext("prompt", in_prompt(["old"], ["agony", "old", "agony"]))
    assert placed.frame["context"].to_list() == [  # SI section J of Bai et al. (2025)
        "Here is a list of words. For each word pick a word — old.",
        "— and write it after the word. The words are agony.",
        "— and write it after the word. The words are old.",
    ]
    placed = InContext("prompt", in_prompt([], word_tests.test_words(AGE)))
    estimates = measure_states(
        fake_reader(), [Testing(AGE, placed, setting=TestSetting(draws=0))]
    ).estimates
    assert set(estimates["measure"]) == {"seat"} and set(estimates["contexts"]) == {"prompt"}


def test_modes_are_not_pooled_and_controls_are_left_out(tmp_path: Path) -> None:
    pl.concat([scores(mode="forced", score=1.0), scores()]).write_parquet(tmp_path / "s.parquet")
    assert read_answers(tmp_path / "s.parquet").scores["score"].max() < 1
    scores(study="control_insects").write_parquet(tmp_path / "c.parquet")
    with pytest.raises(InputError, match="no scores of word associations"):
        read_answers(tmp_path / "c.parquet")


def test_contexts_are_named_by_what_they_are(tmp_path: Path) -> None:
    dictionary = read_dictionary()
    line = {"term": "friendly", "examples": ["a friendly dog"], "example_source": "corpus"}
    (tmp_path / "c.jsonl").write_text(json.dumps(line) + "\n")
    senses = dictionary.senses.filter(pl.col("dimension") == "Status")
    small = Dictionary("small", senses)
    assert place_terms(small, "templates").frame.height == 7 * len(small.terms)
    assert place_terms(small).kind == "none"
    assert place_words(["friendly"], str(tmp_path / "c.jsonl")).kind == "corpus"
    with pytest.raises(InputError, match="contexts 'nowhere': no such file; allowed are none"):
        place_terms(small, "nowhere")
