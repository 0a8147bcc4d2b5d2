"""The RM-IAT: trials, scores of two trials of a word, and the published d."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from clinometer.audits.tabulating import estimate_scores, score_responses
from clinometer.contracts.design import Design
from clinometer.errors import InputError
from clinometer.scoring import score
from clinometer.stimuli import load_study, study_hash
from clinometer_measures.reasoning_cost import INSTRUMENT

RMIAT = load_study("rmiat2025")
CONDITIONS = ("compatible", "incompatible")
MODELS = ("o3-mini", "DeepSeek-R1", "GPT-OSS-20B")


def trial(word: str, condition: str, tokens: object, **columns: Any) -> dict[str, Any]:
    group = {"wasp": "Insects", "rose": "Flowers"}.get(word, "?")
    label = "Unpleasant" if (group == "Insects") == (condition == "compatible") else "Pleasant"
    constants = {"model": "m", "test": "flowers_insects", "word": word, "group": group}
    return (
        constants
        | {"attribute": label, "tokens": tokens, "condition": condition, "prompt": "3"}
        | columns
    )


def scored(*rows: dict[str, Any]) -> pl.DataFrame:
    table = pl.DataFrame(rows, infer_schema_length=None)
    return score(table, RMIAT, instrument="reasoning_cost").scores


def outcomes_of(
    scores: pl.DataFrame, name: str = "reasoning_cost"
) -> list[tuple[float | None, str | None]]:
    return scores.filter(instrument=name).select("score", "reason").rows()


def test_a_prompt_orders_the_mapping_of_its_version() -> None:
    trials = INSTRUMENT.trials(
        RMIAT, Design(iterations=4), stereotypes=["young_old"], variations="3"
    )
    by_version = {row["version"]: row for row in trials.iter_rows(named=True)}
    ends = "Young people as related to {} and Old people as related to {}."
    for version, row in by_version.items():
        compatible = version in ("marginalized_tied", "default_counter")
        labels = ("Pleasant", "Unpleasant") if compatible else ("Unpleasant", "Pleasant")
        assert ends.format(*labels) in row["prompt"]
        assert "Select one category: [{}, {}].".format(*labels) in row["prompt"]
        assert f'Word: "{row[version.rsplit("_", 1)[0]]}"' in row["prompt"]
    assert len(by_version) == 4


def test_two_trials_of_a_draw_are_of_one_word() -> None:
    trials = INSTRUMENT.trials(RMIAT, Design(iterations=2))
    groups = trials.with_columns(group=pl.col("version").str.extract("^([a-z]+)_"))
    assert set(groups.group_by("pair_id").agg(pl.col("group").n_unique())["group"]) == {1}


def test_a_score_is_the_difference_of_tokens_by_their_sum() -> None:
    scores = scored(trial("wasp", "compatible", 100), trial("wasp", "incompatible", 300))
    assert outcomes_of(scores) == [(0.5, None)] * 2
    assert scores["marginalized"].to_list() == ["wasp"] * 4
    rows = [trial(w, c, n) for w, n in (("rose", 0), ("wasp", 64)) for c in CONDITIONS]
    assert outcomes_of(scored(*rows)) == [(0, None)] * 4


def test_a_model_without_a_token_of_reasoning_has_no_score() -> None:
    rows = [trial(w, c, 0) for w in ("rose", "wasp") for c in CONDITIONS]
    scores = scored(*rows, trial("rose", "compatible", 9, model="other"))
    assert outcomes_of(scores) == [(None, "unreasoned")] * 4 + [(None, "unpaired")]
    assert outcomes_of(scores, "reasoning_refusals")[:4] == [(0, None)] * 4


def test_a_refusal_is_missing_with_the_trial_beside_it_and_counts_as_an_outcome() -> None:
    refused = trial("wasp", "incompatible", 512, attribute="I'm sorry, but I can't help with that.")
    scores = scored(trial("wasp", "compatible", 100), refused)
    assert outcomes_of(scores) == [(None, "unpaired"), (None, "refused")]
    assert outcomes_of(scores, "reasoning_refusals") == [(1.0, None)] * 2
    only = scored(trial("wasp", "compatible", 100))
    assert outcomes_of(only) == outcomes_of(only, "reasoning_refusals") == [(None, "unpaired")]


@pytest.mark.parametrize("answer", ["Pleasant.", "pleasant", '{"cat":"Pleasant"}', " Pleasant", ""])
def test_only_a_label_and_nothing_else_is_an_answer(answer: str) -> None:
    rows = trial("wasp", "compatible", 100), trial("wasp", "incompatible", 90, attribute=answer)
    assert outcomes_of(scored(*rows)) == [(None, "unpaired"), (None, "unparsed")]


@pytest.mark.parametrize(
    ("wrong", "error"),
    [({"condition": "congruent"}, "condition 'congruent'; allowed are compatible"),
     ({"tokens": "-4"}, "tokens '-4'; allowed is a whole number"),
     ({"word": "brick"}, "word 'brick' is none of flowers_insects"),
     ({"prompt": "20"}, "variation '20'")],
)  # fmt: skip
def test_bad_trials_are_named_in_one_line(wrong: dict[str, str], error: str) -> None:
    with pytest.raises(Exception, match=error) as raised:
        scored(trial("wasp", "compatible", "100") | wrong)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "spelled",
    [{"word": " WASP"}, {"group": "INSECTS"}, {"group": None}, {"test": "Flowers_Insects"},
     {"test": "flowers and insects"}, {"prompt": "3.0"}, {"prompt": 3.0}, {"answered": "1"},
     {"tokens": 100.0}, {"tokens": "100.0"}, {"tokens": " 100"}, {"version": "2025-01-31"}],
)  # fmt: skip
def test_a_trial_is_read_in_other_spellings(spelled: dict[str, Any]) -> None:
    rows = [trial("wasp", c, 100) | spelled for c in CONDITIONS]
    assert outcomes_of(scored(*rows)) == [(0, None)] * 2


def test_wording_ten_is_not_wording_one_written_as_a_number() -> None:
    rows = [trial("wasp", c, 9, prompt=n) for c in CONDITIONS for n in (1.0, 10.0)]
    assert set(scored(*rows)["variation"]) == {"1", "10"}


@pytest.mark.parametrize(
    "names",
    [("COMPATIBLE", "Incompatible"), ("Association Compatible", "association_incompatible"),
     ("stereotype consistent", "Stereotype-Inconsistent")],
)  # fmt: skip
def test_conditions_are_read_by_either_scheme(names: tuple[str, str]) -> None:
    rows = [
        trial("rose", c, n) | {"condition": name}
        for c, n, name in zip(CONDITIONS, (64, 192), names, strict=True)
    ]
    assert outcomes_of(scored(*rows)) == [(0.5, None)] * 2


@pytest.mark.parametrize("case", [str.lower, str.upper])
def test_labels_are_read_in_the_case_of_the_table(case: Any) -> None:
    rows = [trial(w, c, 9) for w in ("rose", "wasp") for c in CONDITIONS]
    rows = [row | {"attribute": case(row["attribute"])} for row in rows]
    odd = trial("rose", "compatible", 9, prompt="4"), trial("rose", "incompatible", 9, prompt="4")
    assert outcomes_of(scored(*rows, *odd)) == [(0, None)] * 4 + [(None, "unparsed")] * 2


@pytest.mark.parametrize("nothing", ["", None, "NA", "nan"])
def test_a_trial_without_a_count_has_no_score(nothing: str | None) -> None:
    rows = trial("wasp", "compatible", "100"), trial("wasp", "incompatible", nothing)
    scores = scored(*rows)
    assert outcomes_of(scores) == [(None, "unpaired"), (None, "unreasoned")]
    assert outcomes_of(scores, "reasoning_refusals") == [(0, None)] * 2


@pytest.mark.parametrize("ending", [".csv", ".csv.gz"])
def test_columns_may_be_missing_or_more(tmp_path: Path, ending: str) -> None:
    rows = [trial("rose", c, n) | {"note": "x"} for c, n in zip(CONDITIONS, (1, 3), strict=True)]
    text = pl.DataFrame(rows).drop("group").write_csv().encode()
    path = tmp_path / f"t{ending}"
    path.write_bytes(gzip.compress(text) if ending == ".csv.gz" else text)
    score_responses(path, {RMIAT.name: RMIAT}, tmp_path / "s.csv", instrument="reasoning_cost",
                    keep=True)  # fmt: skip
    table = pl.read_csv(tmp_path / "s.csv")
    assert table.filter(instrument="reasoning_cost")["score"].to_list() == [0.5] * 2
    assert set(table["note"]) == {"x"}


@pytest.mark.parametrize("gone", ["word", "condition", "tokens", "prompt", "attribute", "test"])
def test_a_column_that_is_needed_is_named(gone: str) -> None:
    names = {"tokens": "reasoning_tokens", "prompt": "variation", "attribute": "response",
             "test": "stereotype"}  # fmt: skip
    row = trial("rose", "compatible", 1)
    del row[gone]
    with pytest.raises(InputError, match=f"missing column {names.get(gone, gone)}; found model,"):
        scored(row)


@pytest.mark.parametrize("tokens", ["320.5", "1e3", "-4", "many", "9" * 40])
def test_tokens_that_are_no_whole_number_are_refused(tokens: str) -> None:
    with pytest.raises(InputError, match="tokens '.*'; allowed is a whole number from 0 on, or"):
        scored(trial("wasp", "compatible", tokens))


def test_two_answers_to_one_trial_are_refused() -> None:
    with pytest.raises(InputError, match="has 2 answers with the trial beside it"):
        scored(trial("wasp", "compatible", 1), trial("wasp", "compatible", 2))


@pytest.fixture(scope="module", params=MODELS)
def recorded(request: pytest.FixtureRequest, shared_data: Path, tmp_path_factory: Any) -> Any:
    path = tmp_path_factory.mktemp("rmiat") / "scores.csv"
    source = shared_data / "rmiat" / f"{request.param}.csv.gz"
    score_responses(source, {RMIAT.name: RMIAT}, path, instrument="reasoning_cost", keep=True)
    published = pl.read_csv(shared_data / "rmiat" / "published.csv").filter(model=request.param)
    return path, estimate_scores(path).estimates, published.sort("test")


def test_every_published_d_is_reproduced(recorded: Any) -> None:
    _, estimates, published = recorded
    assert published.height == 10
    for missing_as, column in (("left_out", "d_answered"), ("kept", "d_all")):
        computed = estimates.filter(measure="reasoning_cost_d", missing_as=missing_as).sort(
            "stereotype"
        )
        assert computed["stereotype"].to_list() == published["test"].to_list()
        assert set(computed["method"]) == {"published"}
        assert np.abs(computed["estimate"] - published[column]).max() < 1e-12


def test_refusals_and_bounds_follow_from_the_published_counts(recorded: Any) -> None:
    """Bounds let the versions of a question, a group with an attribute each, count the same."""
    path, estimates, published = recorded
    rows = estimates.filter(level="stereotype", method="clustered").sort("stereotype")
    published_rows = estimates.filter(
        level="stereotype", method="published", measure="reasoning_refusals"
    )
    refusals = published_rows.sort("stereotype")["estimate"]
    answered = published["answered_compatible"] - published["answered_incompatible"]
    assert np.abs(refusals - answered / published["n_compatible"]).max() < 1e-12
    cost = rows.filter(measure="reasoning_cost")
    scores = pl.read_csv(path, infer_schema_length=None).filter(instrument="reasoning_cost")
    missing_share = pl.col("score").is_null().mean()
    by_version = scores.group_by("stereotype", "version").agg(missing_share)
    missing = by_version.group_by("stereotype").agg(pl.col("score").mean()).sort("stereotype")
    missing = missing["score"]
    assert np.abs(cost["bound_high"] - cost["bound_low"] - 2 * missing).max() < 1e-12


def test_other_columns_of_recorded_trials_are_kept(recorded: Any) -> None:
    table = pl.read_csv(recorded[0], infer_schema=False)
    assert {"word", "group", "tokens", "condition", "answered"} <= set(table.columns)
    refusals = table.filter(instrument="reasoning_refusals")
    assert refusals.height == 12_920 and set(refusals["score"]) <= {"-1", "0", "1"}


def test_a_pair_that_two_pieces_share_is_scored(tmp_path: Path, monkeypatch: Any) -> None:
    rows = [trial("wasp", "compatible", 100), trial("wasp", "incompatible", 300)]
    text = pl.DataFrame(rows).write_csv()
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(text.encode()))
    monkeypatch.setattr("clinometer.results.tables.pieces.__defaults__", (1,))
    out = tmp_path / "s.parquet"
    score_responses(tmp_path / "t.csv.gz", {RMIAT.name: RMIAT}, out, instrument="reasoning_cost")
    assert outcomes_of(pl.read_parquet(out)) == [(0.5, None)] * 2


def test_a_file_that_is_no_gzip_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.csv.gz").write_text("model,test")
    with pytest.raises(InputError, match=r"t\.csv\.gz: broken gzip file"):
        score_responses(tmp_path / "t.csv.gz", {RMIAT.name: RMIAT}, tmp_path / "s.csv")


def test_the_nature_tests_are_positive_controls_and_in_no_mean() -> None:
    nature = [
        trial(word, condition, 100 + k + (100 if condition == "incompatible" else 0), prompt=str(k))
        for word in ("wasp", "rose")
        for k in range(20)
        for condition in CONDITIONS
    ]
    estimates = estimate_scores(scored(*nature).lazy()).estimates
    rows = estimates.filter(measure="reasoning_cost", method="clustered", level="stereotype")
    assert rows.select("stereotype", "control", "verdict").rows() == [
        ("flowers_insects", "positive", "passed")
    ]
    kinds = {key: RMIAT.control_of(key) for key in RMIAT.stereotypes}
    assert [key for key, kind in kinds.items() if kind == "positive"] == [
        "flowers_insects",
        "instruments_weapons",
    ]


def test_controls_of_a_study_keep_its_draws() -> None:
    """Whether a stereotype is a control reaches no prompt and no score."""
    plain = {
        key: stereotype.model_copy(update={"control": ""})
        for key, stereotype in RMIAT.stereotypes.items()
    }
    assert study_hash(RMIAT.model_copy(update={"stereotypes": plain})) == study_hash(RMIAT)


def test_the_mean_over_social_tests_leaves_the_nature_tests_out(recorded: Any) -> None:
    """Of o3-mini .173 over eight social tests; with the controls of its authors it is .265."""
    _, estimates, _ = recorded
    rows = estimates.filter(measure="reasoning_cost", method="clustered", level="model")
    mean = rows.filter(pl.col("control").is_null())
    assert mean["n_stereotypes"].item() == 8
    if mean["model"].item() == "o3-mini":
        assert mean["estimate"].item() == pytest.approx(0.173, abs=5e-4)
    controls = estimates.filter(control="positive", level="stereotype", method="clustered")
    assert controls.filter(measure="reasoning_cost").height == 2
