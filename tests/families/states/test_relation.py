"""What is said beside what is inside: the released Llama-3 run, and small tables."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import statsmodels.api as sm

import clinometer
from clinometer.errors import InputError
from clinometer.results import ESTIMATES
from clinometer.results.schemas import FITS
from clinometer.stimuli import Stereotype, StereotypeWords, Study, word_key
from clinometer_measures.states import association
from clinometer_measures.states.readers.states import HiddenStates
from clinometer_measures.states.relation import Related, relate, trial_effects
from clinometer_measures.states.word_tests import WordSet, WordTest

PROMPT = re.compile(
    r"pick a word\s+[—–-]+\s+(.{1,80}?) or (.{1,80}?)\s+[—–-]+\s.{0,200}?"
    r"The words are (.{1,2000}?)\.",
    re.DOTALL,
)


def word_lists(stereotype: Stereotype) -> list[StereotypeWords]:
    """The words of a stereotype: its own, and those of its chained decisions."""
    decisions = stereotype.decisions.chained_task
    decided = [stereotype.decision_words("chained_task", name) for name in decisions]
    return [stereotype.words(""), *decided]


def read_answers(path: Path, study: Study) -> pl.DataFrame:
    """Released answers; `response` is of its row, the columns `response_task1` to 3 slipped."""
    rows = []
    for row in pl.read_csv(path, infer_schema=False).iter_rows(named=True):
        first_word, second_word, attributes = PROMPT.search(row["prompt"]).groups()
        lists = word_lists(study.stereotypes[row["category"]])
        first = {word_key(word) for words in lists for word in words.marginalized}
        marginalized, default = (
            (first_word, second_word)
            if word_key(first_word) in first
            else (second_word, first_word)
        )
        rows.append(
            {
                "stereotype": row["category"],
                "iteration": int(row["trial"]),
                "marginalized": marginalized,
                "default": default,
                "attributes": " | ".join(word.strip() for word in attributes.split(",")),
                "response": row["response"],
                "model": "llama3-8b",
                "instrument": "chained_task",
            }
        )
    return pl.DataFrame(rows)


def restrict_words(study: Study, answers: pl.DataFrame) -> Study:
    """Hiring and religions were asked with the words of their decisions: give them those."""
    stereotypes = dict(study.stereotypes)
    for (name,), part in answers.group_by(["stereotype"], maintain_order=True):
        decision_words = {word_key(word) for word in part["attributes"][0].split(" | ")}
        lists = word_lists(stereotypes[name])
        words = max(
            lists,
            key=lambda candidate: len(
                decision_words & {*map(word_key, candidate.tied + candidate.counter)}
            ),
        )
        if words is not lists[0]:
            variants = {role: getattr(words, role) for role in StereotypeWords.model_fields}
            stereotypes[name] = stereotypes[name].model_copy(update={**variants, "variations": {}})
    return study.model_copy(update={"stereotypes": stereotypes})


def read_effects(path: Path, removed: int) -> pl.DataFrame:
    """Released effects: category → trial → layer → effect."""
    rows = [
        (category, trial, layer, removed, float(effect))
        for category, trials in json.loads(path.read_text(encoding="utf-8")).items()
        for trial, layers in trials.items()
        for layer, effect in layers.items()
    ]
    columns = ["stereotype", "trial", "layer", "removed", "estimate"]
    return pl.DataFrame(rows, schema=columns, orient="row")


@pytest.fixture(scope="module")
def llama(shared_data: Path) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Our scores and decisions of the released answers, and the released effects."""
    folder, study = shared_data / "bai", clinometer.load_study("bai2025")
    answers = read_answers(folder / "llama3_8b_prompts_and_layer_weat.csv", study)
    scored, _ = clinometer.score(answers, restrict_words(study, answers))
    keyed = scored.with_columns(trial="iteration")
    associations = keyed.filter(instrument="chained_association")
    decided = keyed.filter(instrument="chained_decision").rename({"score": "decision"})
    scores = associations.join(
        decided.select("stereotype", "trial", "decision"), on=["stereotype", "trial"]
    )
    plain = read_effects(folder / "llama3_8b_layer_weat.json", removed=0)
    nullified = read_effects(folder / "llama3_8b_layer_weat_nullified.json", removed=1)
    return scores, pl.concat([plain, nullified])


@pytest.fixture(scope="module")
def related(llama: tuple[pl.DataFrame, pl.DataFrame]) -> Related:
    return relate(*llama)


def correlations(estimates: pl.DataFrame) -> pl.DataFrame:
    return estimates.filter(measure="correlation")


def test_most_released_answers_can_be_scored(llama: tuple[pl.DataFrame, pl.DataFrame]) -> None:
    """SI section J: 133 of 210 were usable; by our rules 127, and 114 decisions."""
    scores, _ = llama
    assert (scores.height, scores["score"].count(), scores["decision"].count()) == (210, 127, 114)


def layers(related: Related, missing_as: str, removed: int = 0) -> dict[int, float]:
    part = correlations(related.estimates).filter(
        missing_as=missing_as, removed=removed, level="stereotype"
    )
    return {int(layer): r for layer, r in part.select("layer", "estimate").iter_rows()}


def test_middle_layers_agree_with_what_is_said(related: Related) -> None:
    """SI section O: r = .73 at layer 13, the highest, and .30 at layer 32, over 21 stereotypes."""
    r = layers(related, "zero")
    assert max(r, key=r.__getitem__) == 13
    assert r[13] == pytest.approx(0.709, abs=0.001)
    assert r[32] == pytest.approx(0.208, abs=0.001)
    at13 = correlations(related.estimates).filter(
        missing_as="zero", removed=0, layer="13", level="stereotype"
    )
    assert at13.select("n").item() == 21 and at13["p_holm"][0] < 0.05


def test_the_shape_moves_with_missing_answers(related: Related) -> None:
    rows = {policy: layers(related, policy) for policy in ("left_out", "lowest", "highest")}
    best = {policy: max(r, key=r.__getitem__) for policy, r in rows.items()}
    assert best == {"left_out": 5, "lowest": 15, "highest": 20}
    at13 = [round(rows[policy][13], 2) for policy in rows]
    assert at13 == [0.49, 0.71, 0.13]


def test_nullified_effects_agree_less_in_the_middle(
    related: Related,
) -> None:
    """SI section O: nullification helps late layers and not the middle ones."""
    plain, nullified = layers(related, "zero"), layers(related, "zero", removed=1)
    assert nullified[13] < 0.1 < plain[13]
    assert nullified[32] > plain[32]


def test_decisions_follow_from_what_is_said(related: Related) -> None:
    """SI section O: the prompt's score has b = .95 and the least AIC; last layers tell nothing."""
    rows = related.estimates.filter(measure="log_odds", missing_as="left_out", method="published")
    fits = related.fits.filter(missing_as="left_out")
    scored = fits.row(0, named=True)
    assert (scored["delta_aic"], scored["layer"]) == (0.0, None)
    answer = rows.filter(predictor="word_association").row(0, named=True)
    assert answer["n_scored"] == 94 and answer["estimate"] > 0.9 and answer["p"] < 0.05
    last = {"layer": "32", "removed": 0}
    assert rows.filter(**last)["p"].item() > 0.1 and fits.filter(**last)["delta_aic"].item() > 4


def small(n: int = 12) -> tuple[pl.DataFrame, pl.DataFrame]:
    rng = np.random.default_rng(0)
    scores = pl.DataFrame(
        {
            "model": "m",
            "stereotype": [f"s{i % 6}" for i in range(n)],
            "trial": [i // 6 for i in range(n)],
            "score": [None if i == 3 else v for i, v in enumerate(rng.uniform(-1, 1, n))],
            "decision": rng.integers(0, 2, n),
        }
    )
    effects = scores.select("stereotype", "trial").join(
        pl.DataFrame({"layer": ["0", "1"]}), how="cross"
    )
    return scores, effects.with_columns(estimate=pl.Series(rng.normal(size=2 * n)))


def test_tables_have_their_columns_and_factors() -> None:
    estimates, fits = relate(*small())
    assert dict(estimates.schema) == ESTIMATES and dict(fits.schema) == FITS
    rows = correlations(estimates)
    assert rows.height == estimates.filter(measure="rank_correlation").height == 4 * 2 * 2
    assert fits.group_by("missing_as").len()["len"].to_list() == [3] * 4
    methods = estimates.filter(measure="log_odds").group_by("method").len().rows()
    assert sorted(methods) == [("clustered", 12), ("published", 12)]
    n = rows.filter(level="trial", layer="0").select("missing_as", "n").rows()
    assert n == [("left_out", 11), ("zero", 12), ("lowest", 12), ("highest", 12)]


def test_fits_are_those_of_statsmodels() -> None:
    scores, effects = small(60)
    estimates, fits = relate(scores, effects, missing_as=["left_out"])
    published = estimates.filter(measure="log_odds", method="published")
    rows = scores.join(effects.filter(layer="1"), on=["stereotype", "trial"]).drop_nulls("score")
    for column, row in (("score", 0), ("estimate", 2)):
        x = sm.add_constant(rows[column].to_numpy())
        theirs = sm.Logit(rows["decision"].to_numpy(), x).fit(disp=False)
        ours, criteria = published.row(row, named=True), fits.row(row, named=True)
        assert ours["estimate"] == pytest.approx(theirs.params[1])
        assert criteria["aic"] == pytest.approx(theirs.aic)
        assert criteria["bic"] == pytest.approx(theirs.bic)
        assert ours["p"] == pytest.approx(theirs.pvalues[1])
    assert fits["delta_aic"].min() == 0


def test_effects_of_stereotypes_are_related_over_stereotypes_only() -> None:
    scores, effects = small()
    averaged = effects.filter(trial=0).drop("trial")
    rows = correlations(relate(scores, averaged, missing_as=["zero"]).estimates)
    assert set(rows["level"]) == {"stereotype"} and set(rows["n"]) == {6}


def test_a_layer_that_does_not_vary_has_no_r() -> None:
    scores, effects = small()
    flat = effects.with_columns(estimate=pl.when(layer="0").then(0.0).otherwise("estimate"))
    estimates, fits = relate(scores, flat, missing_as=["zero"])
    rows = correlations(estimates)
    assert rows.filter(layer="0")["estimate"].null_count() == 2
    assert set(rows.filter(layer="0")["note"]) == {"scores or effects do not vary"}
    assert rows.filter(layer="1")["estimate"].null_count() == 0
    assert fits.filter(layer="0")["aic"].null_count() == 1


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"missing_as": ["mean"]}, "missing_as 'mean': allowed are left_out"),
        ({"scores": small()[0].drop("score")}, "scores: missing column score"),
        ({"associations": pl.concat([small()[1]] * 2)}, "several rows of s0, 0, 0"),
        ({"associations": small()[1].with_columns(trial=pl.col("trial") + 9)}, "is in both"),
    ],
)
def test_tables_that_cannot_be_related(changed: dict[str, Any], message: str) -> None:
    scores, associations = small()
    with pytest.raises(InputError, match=message):
        relate(**{"scores": scores, "associations": associations, **changed})


WORDS = ("old", "young", "agony", "hate", "joy", "love")
TRIALS = pl.DataFrame(
    {
        "stereotype": ["age", "age"],
        "trial": ["a", "b"],
        "marginalized": "old",
        "default": "young",
        "tied": [["agony", "hate"], ["agony"]],
        "counter": [["joy", "love"], ["joy"]],
    }
)


def states(seed: int = 0) -> HiddenStates:
    values = np.random.default_rng(seed).normal(size=(6, 3, 5)).astype(np.float32)
    return HiddenStates(WORDS, ("0", "1", "2"), values, np.ones(6, dtype=np.int64))


def test_a_trial_has_the_effect_of_a_test_with_its_words() -> None:
    effects = trial_effects(states(), TRIALS).filter(trial="a")["estimate"]
    words = (("agony", "hate"), ("joy", "love"), ("old",), ("young",))
    sets = [WordSet(name, members) for name, members in zip("abcd", words, strict=True)]
    origin = {"model": "m", "contexts": "none", "removed": 0}
    test = association.test_associations(states(), [WordTest("s", "age", *sets)], of=origin)
    expected = test.estimates.filter(alternative="greater")
    assert effects.to_list() == pytest.approx(expected["estimate"].to_list(), rel=1e-9)


def test_one_attribute_a_side_leans_fully_one_way_or_the_other() -> None:
    effects = trial_effects(states(), TRIALS).filter(trial="b")["estimate"]
    assert effects.abs().to_list() == pytest.approx([2.0, 2.0, 2.0])
    unit = states().of(WORDS)
    unit /= np.linalg.norm(unit, axis=2, keepdims=True)
    closer = [((unit[2] - unit[4]) * (unit[0] - unit[1])).sum(axis=1)[layer] for layer in range(3)]
    assert [value > 0 for value in effects] == [value > 0 for value in closer]


def test_equal_words_have_no_effect_and_absent_ones_are_named() -> None:
    alike = TRIALS.head(1).with_columns(counter=pl.lit(["agony", "hate"]))
    flat = states()
    flat.values[3] = flat.values[2]
    assert trial_effects(flat, alike)["estimate"].is_null().all()
    with pytest.raises(InputError, match="no states of 'nobody'"):
        trial_effects(states(), TRIALS.with_columns(default=pl.lit("nobody")))
