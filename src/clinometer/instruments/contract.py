"""What every instrument keeps to: checks that its authors can run, here or in a package of theirs.

With pytest, a test for each check and mode::

    @pytest.mark.parametrize(("check", "mode"), cases(INSTRUMENT))
    def test_contract(check, mode):
        check(INSTRUMENT, load_study("my_study.yaml"), mode)

A check raises AssertionError, with what is wrong. What no check can know is whether answers that
side with a stereotype score its end of the scale: test that with answers of your own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import polars as pl

from clinometer.instruments.design import Design
from clinometer.instruments.instrument import Instrument
from clinometer.modes import CHOICES, LIKELIHOODS, LOGITS, MODES
from clinometer.results import REASONS, TRIALS
from clinometer.stimuli import Study

__all__ = ["CHECKS", "ContractCheck", "cases"]

#: Instrument, study, mode → nothing; raises AssertionError.
ContractCheck = Callable[[Instrument, Study, str], None]

#: Trials per stereotype and wording that checks draw; half of them where few are compared.
TRIALS_DRAWN = 8

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
    *('{"answer": NaN}', '{"answer": [1e999, -1e999]}', '{"a": {"a": {"a": null}}}', "[[]]"),
    *("\x00\u202e\ufeff", "yes no yes no", "1" * 400, "- - -\n: : :", "\ud83d" * 3, "A" * 50_000),
)


def cases(instrument: Instrument) -> list[tuple[ContractCheck, str]]:
    """Return each check with each mode of an instrument."""
    return [(check, mode) for check in CHECKS for mode in instrument.modes]


def says_what_it_asks(instrument: Instrument, study: Study, mode: str) -> None:
    """Require words for a trial, what each measure asks, its limits, and every version drawn."""
    _hold(bool(instrument.trial), "`trial` does not say what one trial asks")
    for measure in instrument.measures:
        _hold(bool(measure.asks), f"measure {measure.name}: `asks` is empty")
        _hold(bool(measure.limits), f"measure {measure.name}: `limits` is empty")
    drawn = set(_draw(instrument, study, mode)["version"].drop_nulls())
    unsaid = sorted(drawn - set(instrument.versions))
    _hold(not unsaid, f"`versions` does not say what {unsaid} means")
    _hold(instrument.effect in {"", *instrument.analysed}, "`effect` is none of `analysed`")


def is_kept_in_plans(instrument: Instrument, study: Study, mode: str) -> None:
    """Require that what a plan keeps of it is JSON without NaN, a row for each measure."""
    rows = json.loads(json.dumps(instrument.described(), allow_nan=False))
    named = [row["name"] for row in rows]
    _hold(named == [one.name for one in instrument.measures], "`described` lacks a measure")


def is_controlled_in_quick_audits(instrument: Instrument, study: Study, mode: str) -> None:
    """Require a positive control in size quick; `catalogue.register` refuses it otherwise."""
    _hold(instrument.is_controlled, "in size quick it has no control")


def keeps_the_schema(instrument: Instrument, study: Study, mode: str) -> None:
    """Require the columns of `results.TRIALS`, trials with own names, and filled placeholders."""
    trials = _draw(instrument, study, mode)
    _hold(trials.schema == pl.Schema(TRIALS), "trials have other columns than `results.TRIALS`")
    _hold(trials["trial_id"].is_unique().all(), "two trials have one `trial_id`")
    _hold(set(trials["instrument"]) == {instrument.name}, "trials name another instrument")
    _hold(set(trials["mode"]) == {mode}, "trials name another mode")
    columns = {"schema": (CHOICES,), "options": (LOGITS, LIKELIHOODS)}
    for column, kinds in columns.items():
        filled = trials[column].null_count() == 0
        needed = MODES[mode].kind in kinds
        _hold(filled == needed, f"{column} is {'empty' if needed else 'filled'} in mode {mode}")
    places = r"\{(attribute|option)\}" if MODES[mode].sentences else r"\{attribute\}"
    shown = trials["prompt"].str.replace_all(places, "")
    _hold(not shown.str.contains(r"\{\w+\}").any(), "a prompt has an open placeholder")


def draws_from_study_and_design_alone(instrument: Instrument, study: Study, mode: str) -> None:
    """Require that the same draw gives the same trials, and that more iterations append to them."""
    many = _draw(instrument, study, mode)
    _hold(many.equals(_draw(instrument, study, mode)), "a second draw gives other trials")
    few = _draw(instrument, study, mode, TRIALS_DRAWN // 2)
    kept = many.filter(pl.col("trial_id").is_in(few["trial_id"].implode()))
    _hold(few.equals(kept), "more iterations change the first trials")
    first = many["stereotype"][0]
    alone = instrument.trials(study, Design(mode, TRIALS_DRAWN), stereotypes=[first])
    _hold(alone.equals(many.filter(stereotype=first)), "trials depend on the other stereotypes")
    shown = ["prompt", "options"]
    other = _draw(instrument, study, mode, seed=1)
    _hold(not other.select(shown).equals(many.select(shown)), "another seed changes nothing")


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
    _hold(set(pairs["words"]) == {1}, "the trials of a pair have other words")
    _hold(set(pairs["len"]) <= sizes, f"pairs of {sorted(set(pairs['len']))} trials")
    _hold((pairs["turns"] == pairs["len"]).all(), "two trials of a pair have one order and version")
    _hold((pairs["prompts"] == pairs["len"]).all(), "two trials of a pair have one prompt")


def conditions_change_no_draw(instrument: Instrument, study: Study, mode: str) -> None:
    """Require that system prompt, reasoning effort and temperature change names of trials alone."""
    plain = _draw(instrument, study, mode)
    led = _draw(instrument, study, mode, intervention="kind", system="Be kind.")
    hot = _draw(instrument, study, mode, reasoning_effort="low", temperature="0")
    for other, own in (
        (led, ["trial_id", "pair_id", "intervention", "system"]),
        (hot, ["trial_id", "pair_id", "reasoning_effort", "temperature"]),
    ):
        condition = own[2]
        _hold(plain.drop(own).equals(other.drop(own)), f"{condition} changes what is drawn")
        shared = set(plain["trial_id"]) & set(other["trial_id"])
        _hold(not shared, f"trials with another {condition} have the same `trial_id`")


def reads_any_answer(instrument: Instrument, study: Study, mode: str) -> None:
    """Require of any answer a score on its scale, or none and a reason."""
    trial = _draw(instrument, study, mode).row(0, named=True)
    for response, stop_reason in EMPTY_ANSWERS:
        for name, score, reason in _score(instrument, study, trial, response, stop_reason):
            _hold(score is None, f"{name}: {response[:20]!r} has the score {score}")
            _hold(reason in REASONS, f"{name}: {response[:20]!r} has the reason {reason!r}")
    scales = {measure.name: measure for measure in instrument.measures}
    for response in HOSTILE_ANSWERS:
        for name, score, reason in _score(instrument, study, trial, response, "stop"):
            shown = f"{name}: {response[:20]!r}"
            _hold((score is None) == (reason is not None), f"{shown}: a score, or a reason")
            low, high = scales[name].low, scales[name].high
            _hold(score is None or low <= score <= high, f"{shown}: {score} is off its scale")


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
)


def _hold(condition: bool, failure: str) -> None:
    """Raise AssertionError, with the failure in words, unless the condition holds."""
    if not condition:
        raise AssertionError(failure)


def _draw(
    instrument: Instrument, study: Study, mode: str, iterations: int = TRIALS_DRAWN, **design: Any
) -> pl.DataFrame:
    return instrument.trials(study, Design(mode, iterations, **design))


def _score(
    instrument: Instrument, study: Study, trial: dict[str, Any], response: str, stop_reason: str
) -> Iterator[tuple[str, float | None, str | None]]:
    """Yield the score, or the reason why there is none, of each measure."""
    cell = (trial["stereotype"], trial["variation"], trial["dimension"])
    key = instrument.key(study, *cell)
    scores = instrument.score(response, {**trial, "stop_reason": stop_reason}, key)
    for name, scored in scores.items():
        yield name, scored.score, scored.reason
