"""What every instrument keeps to: checks that its authors can run, here or in a package of theirs.

With pytest, a test for each check and mode::

    @pytest.mark.parametrize(("check", "mode"), cases(INSTRUMENT))
    def test_contract(check, mode):
        check(INSTRUMENT, load_study("my_study.yaml"), mode)

A check raises AssertionError, with what is wrong. Whether answers that side with a stereotype score
its end of the scale no check can know by itself: `Instrument.examples` say what answers score.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from math import isclose
from typing import Any

import polars as pl

from clinometer.contracts.design import Design
from clinometer.contracts.instrument import Example, Instrument, Key
from clinometer.modes import CHOICES, LIKELIHOODS, LOGITS, MODES
from clinometer.results import REASONS, TRIALS
from clinometer.stimuli import Study, fill

#: Instrument, study, mode → nothing; raises AssertionError.
ContractCheck = Callable[[Instrument, Study, str], None]

#: Trials per stereotype and wording that checks draw.
TRIALS_PER_CELL = 8

#: As many where draws are compared: where they differ, the first ones do.
FEW_PER_CELL = TRIALS_PER_CELL // 2

#: Answers that say nothing, and how they ended.
EMPTY_ANSWERS = (
    ("", "stop"),
    ("I'm sorry, but I can't help with that.", "stop"),
    ("qwertz", "stop"),
    ("{", "max_tokens"),
    ("[" * 10_000, "stop"),
    ("null", "content_filter"),
)

#: Answers that a reader may take for something else than they are.
HOSTILE_ANSWERS = (
    '{"answer": NaN}',
    '{"answer": [1e999, -1e999]}',
    '{"a": {"a": {"a": null}}}',
    "[[]]",
    "\x00\u202e\ufeff",
    "yes no yes no",
    "1" * 400,
    "- - -\n: : :",
    "\ud83d" * 3,
    "A" * 50_000,
)


def cases(instrument: Instrument) -> list[tuple[ContractCheck, str]]:
    """Return each check with each mode of an instrument."""
    return [(check, mode) for check in CHECKS for mode in instrument.modes]


def says_what_it_asks(instrument: Instrument, study: Study, mode: str) -> None:
    """Require words for a trial, what each measure asks, its limits, and every version drawn."""
    _require(bool(instrument.trial), "`trial` does not say what one trial asks")
    for measure in instrument.measures:
        _require(bool(measure.asks), f"measure {measure.name}: `asks` is empty")
        _require(bool(measure.limits), f"measure {measure.name}: `limits` is empty")
    versions = set(_draw(instrument, study, mode)["version"].drop_nulls())
    unsaid = sorted(versions - set(instrument.versions))
    _require(not unsaid, f"`versions` does not say what {unsaid} means")
    _require(instrument.effect in {"", *instrument.analysed}, "`effect` is none of `analysed`")


def is_kept_in_plans(instrument: Instrument, study: Study, mode: str) -> None:
    """Require that what a plan keeps of it is JSON without NaN, a row for each measure."""
    rows = json.loads(json.dumps(instrument.measure_rows(), allow_nan=False))
    names = [row["name"] for row in rows]
    measures = [measure.name for measure in instrument.measures]
    _require(names == measures, "`measure_rows` lacks a measure")


def is_controlled_in_quick_audits(instrument: Instrument, study: Study, mode: str) -> None:
    """Require a positive control in size quick; `catalogue.register` refuses it otherwise."""
    _require(instrument.is_controlled, "in size quick it has no control")
    kinds = {study.control_of(key) for key in study.stereotypes}
    within = "positive" in kinds or not instrument.controls_within
    _require(within, "`controls_within`, but the study has no positive control")


def keeps_the_schema(instrument: Instrument, study: Study, mode: str) -> None:
    """Require the columns of `results.TRIALS`, trials with own names, and filled placeholders."""
    trials = _draw(instrument, study, mode)
    _require(trials.schema == pl.Schema(TRIALS), "trials have other columns than `results.TRIALS`")
    _require(trials["trial_id"].is_unique().all(), "two trials have one `trial_id`")
    _require(set(trials["instrument"]) == {instrument.name}, "trials name another instrument")
    _require(set(trials["mode"]) == {mode}, "trials name another mode")
    columns = {"schema": (CHOICES,), "options": (LOGITS, LIKELIHOODS)}
    for column, kinds in columns.items():
        filled = trials[column].null_count() == 0
        needed = MODES[mode].kind in kinds
        _require(filled == needed, f"{column} is {'empty' if needed else 'filled'} in mode {mode}")
    # These the mode fills in, once for each word that it asks about.
    places = r"\{(attribute|option)\}" if MODES[mode].sentences else r"\{attribute\}"
    prompts = trials["prompt"].str.replace_all(places, "")
    _require(not prompts.str.contains(r"\{\w+\}").any(), "a prompt has an open placeholder")


def draws_from_study_and_design_alone(instrument: Instrument, study: Study, mode: str) -> None:
    """Require that the same draw gives the same trials, and that more iterations append to them."""
    few = _draw(instrument, study, mode, FEW_PER_CELL)
    again = _draw(instrument, study, mode, FEW_PER_CELL)
    _require(few.equals(again), "a second draw gives other trials")
    many = _draw(instrument, study, mode)
    same = many.filter(pl.col("trial_id").is_in(few["trial_id"].implode()))
    _require(few.equals(same), "more iterations change the first trials")
    first = many["stereotype"][0]
    alone = instrument.trials(study, Design(mode, TRIALS_PER_CELL), stereotypes=[first])
    _require(alone.equals(many.filter(stereotype=first)), "trials depend on the other stereotypes")
    # Of a sentence, which is one text for all words, the options alone differ.
    texts = ["prompt", "options"]
    reseeded = _draw(instrument, study, mode, seed=1)
    _require(not reseeded.select(texts).equals(many.select(texts)), "another seed changes nothing")


def pairs_differ_in_order_or_group_alone(instrument: Instrument, study: Study, mode: str) -> None:
    """Require that the trials of a pair have the same words, and another order or version."""
    words = ["stereotype", "dimension", "variation", "marginalized", "default", "tied", "counter"]
    pairs = _draw(instrument, study, mode).group_by("pair_id").agg(
        pl.struct(*words, "attribute_order", "object", "labels").n_unique().alias("words"),
        pl.struct("order", "version").n_unique().alias("turns"),
        pl.col("prompt").n_unique().alias("prompts"),
        pl.len(),
    )  # fmt: skip
    # The sentences of a pair are one trial.
    sizes = {2, 4} | ({1} if MODES[mode].sentences else set())
    _require(set(pairs["words"]) == {1}, "the trials of a pair have other words")
    _require(set(pairs["len"]) <= sizes, f"pairs of {sorted(set(pairs['len']))} trials")
    _require(
        (pairs["turns"] == pairs["len"]).all(), "two trials of a pair have one order and version"
    )
    _require((pairs["prompts"] == pairs["len"]).all(), "two trials of a pair have one prompt")


def conditions_change_no_draw(instrument: Instrument, study: Study, mode: str) -> None:
    """Require that system prompt, reasoning effort and temperature change names of trials alone."""
    draw = partial(_draw, instrument, study, mode, FEW_PER_CELL)
    plain = draw()
    led = draw(intervention="kind", system="Be kind.")
    hot = draw(reasoning_effort="low", temperature="0")
    for trials, condition, text in (
        (led, "intervention", "system"),
        (hot, "reasoning_effort", "temperature"),
    ):
        changed = ["trial_id", "pair_id", condition, text]
        same = plain.drop(changed).equals(trials.drop(changed))
        _require(same, f"{condition} changes what is drawn")
        shared = set(plain["trial_id"]) & set(trials["trial_id"])
        _require(not shared, f"trials with another {condition} have the same `trial_id`")


def reads_any_answer(instrument: Instrument, study: Study, mode: str) -> None:
    """Require of any answer a score on its scale, or none and a reason."""
    first = next(iter(study.stereotypes))
    trials = instrument.trials(study, Design(mode, FEW_PER_CELL), stereotypes=[first])
    trial = trials.row(0, named=True)
    for response, stop_reason in EMPTY_ANSWERS:
        for name, score, reason in _score(instrument, study, trial, response, stop_reason):
            _require(score is None, f"{name}: {response[:20]!r} has the score {score}")
            _require(reason in REASONS, f"{name}: {response[:20]!r} has the reason {reason!r}")
    scales = {measure.name: measure for measure in instrument.measures}
    for response in HOSTILE_ANSWERS:
        for name, score, reason in _score(instrument, study, trial, response, "stop"):
            label = f"{name}: {response[:20]!r}"
            _require((score is None) == (reason is not None), f"{label}: a score, or a reason")
            low, high = scales[name].low, scales[name].high
            _require(score is None or low <= score <= high, f"{label}: {score} is off its scale")


def scores_its_examples(instrument: Instrument, study: Study, mode: str) -> None:
    """Require examples of every version and order in one mode at least, and their scores."""
    _require(bool(instrument.examples), "no `examples` say what an answer scores")
    mode_examples = [example for example in instrument.examples if example.mode == mode]
    if not mode_examples:
        return
    example_scores: dict[tuple[str | None, str | None], set[float]] = {}
    cells = _draw(instrument, study, mode).group_by(
        "stereotype", "variation", "dimension", maintain_order=True
    )
    for cell, trials in cells:
        key = instrument.key(study, *cell)
        for trial in trials.iter_rows(named=True):
            scores = example_scores.setdefault((trial["version"], trial["order"]), set())
            for example in mode_examples:
                if _suits(example, trial):
                    _require_score(instrument, example, trial, key)
                    scores.add(example.score)
    for (version, order), scores in example_scores.items():
        turn = f"version {version} and order {order}"
        _require(len(scores) > 1, f"no two examples of {turn} that differ in their score")


#: Every check, in the order in which their failures are best read.
CHECKS: tuple[ContractCheck, ...] = (
    says_what_it_asks,
    is_kept_in_plans,
    is_controlled_in_quick_audits,
    keeps_the_schema,
    draws_from_study_and_design_alone,
    pairs_differ_in_order_or_group_alone,
    conditions_change_no_draw,
    reads_any_answer,
    scores_its_examples,
)


def _require(condition: bool, failure: str) -> None:
    """Raise AssertionError, with the failure in words, unless the condition holds."""
    if not condition:
        raise AssertionError(failure)


def _draw(
    instrument: Instrument,
    study: Study,
    mode: str,
    iterations: int = TRIALS_PER_CELL,
    **design: Any,
) -> pl.DataFrame:
    """Draw trials of all stereotypes and default variations."""
    return instrument.trials(study, Design(mode, iterations, **design))


def _key(instrument: Instrument, study: Study, trial: Mapping[str, Any]) -> Key:
    return instrument.key(study, trial["stereotype"], trial["variation"], trial["dimension"])


def _suits(example: Example, trial: Mapping[str, Any]) -> bool:
    """Whether an example is one of a trial."""
    trial_columns = {name: value for name, value in example.columns.items() if name in TRIALS}
    return (
        example.version in (None, trial["version"])
        and example.order in (None, trial["order"])
        and all(trial[name] == value for name, value in trial_columns.items())
    )


def _require_score(
    instrument: Instrument, example: Example, trial: Mapping[str, Any], key: Key
) -> None:
    """Require that an answer to a trial has the score that its author gave it."""
    answer, run = _answered(example, trial, key)
    scores = instrument.score(answer, {**trial, **run, "stop_reason": "stop"}, key)
    name, scored = next(iter(scores.items()))
    fits = scored.score is not None and isclose(scored.score, example.score, abs_tol=1e-9)
    got = scored.reason if scored.score is None else scored.score
    _require(fits, f"{name}: {answer[:200]!r} scores {got}, by hand {example.score}")


def _answered(example: Example, trial: Mapping[str, Any], key: Key) -> tuple[str, dict[str, Any]]:
    """Return the answer of an example to a trial, and what its run adds to the trial."""
    words = _words(trial, key)
    answer = fill(example.answer, words)
    run: dict[str, Any] = {
        name: fill(value, words) if isinstance(value, str) else value
        for name, value in example.columns.items()
        if name not in TRIALS
    }
    if "other" in run:
        run["other"] = {**trial, "response": answer, **run["other"]}
    return answer, run


def _words(trial: Mapping[str, Any], key: Key) -> dict[str, str]:
    """Return the words of a trial by the names that they have in an example."""
    words: dict[str, str] = {}
    for name, value in trial.items():
        if value is not None:
            several = value if isinstance(value, list) else str(value).split(", ")
            words |= {f"{name}{number}": word for number, word in enumerate(several)}
            words[name] = ", ".join(several)
    for attribute_set in ("tied", "counter"):
        set_words = [w for w in trial["attributes"] or () if key.sets.get(w) == attribute_set]
        words[f"{attribute_set}_words"] = ", ".join(set_words)
    return words


def _score(
    instrument: Instrument, study: Study, trial: dict[str, Any], response: str, stop_reason: str
) -> Iterator[tuple[str, float | None, str | None]]:
    """Yield the score, or the reason why there is none, of each measure."""
    key = _key(instrument, study, trial)
    scores = instrument.score(response, {**trial, "stop_reason": stop_reason}, key)
    for name, scored in scores.items():
        yield name, scored.score, scored.reason
