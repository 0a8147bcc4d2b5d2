"""Answers a table of trials in this process, without inspect: for benchmarks and tests.

What is sent and how it is read are those of a run (`Mode.sent`, the readers); what inspect does
besides, with its logs and retries, is left out. A test holds that both ways have the same answers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import polars as pl

from clinometer.errors import InputError
from clinometer.instruments.catalogue import measure_of
from clinometer.instruments.simulation import RecognisedPrompt
from clinometer.models.providers import find_provider
from clinometer.modes import LIKELIHOODS, LOGITS, MODES, TEXT
from clinometer.modes.likelihood import Texts
from clinometer.modes.mode import Message
from clinometer.results import RESPONSES, SCORES
from clinometer.simulated.answering import (
    SimulatedCall,
    SimulatedReply,
    allowed_values,
    answer,
    intend,
)
from clinometer.simulated.recognising import Recognition
from clinometer.simulated.truth import Simulation
from clinometer.stimuli import Study

__all__ = ["Questions", "answer_trials", "draw_scores"]


def answer_trials(
    trials: pl.DataFrame, simulation: Simulation, recognition: Recognition | None = None
) -> pl.DataFrame:
    """Answer trials as a simulated model.

    Parameters
    ----------
    trials
        Columns of `results.TRIALS`.
    simulation
        From `load_truth`.
    recognition
        What is known of studies; None: those that come with Clinometer.

    Returns
    -------
    polars.DataFrame
        Columns of `results.RESPONSES`, a row per trial; tokens of input and output are null.
    """
    known = recognition if recognition is not None else Recognition()
    rows = [
        {**row, "model": f"simulated/{simulation.name}", **_answered(row, simulation, known)}
        for row in trials.iter_rows(named=True)
    ]
    return pl.DataFrame(rows, schema=RESPONSES)


#: What a simulated model can do.
_PROVIDER = find_provider("simulated/neutral")


class Questions:
    """What trials ask in free text, recognised once for the many models that are drawn.

    Parameters
    ----------
    trials
        Columns of `results.TRIALS`, of one study: one prompt each, in mode ``free``.
    study
        The study.
    """

    def __init__(self, trials: pl.DataFrame, study: Study) -> None:
        known, free = (
            Recognition([study]),
            [name for name, one in MODES.items() if one.kind == TEXT],
        )
        if trials["followup"].count() or not trials["mode"].is_in(free).all():
            raise InputError("trials: scores are drawn of single prompts in free text alone")
        self.calls = [
            SimulatedCall([(one["role"], one["content"]) for one in messages], seed=row["seed"])
            for row in trials.iter_rows(named=True)
            for messages in MODES[row["mode"]].sent(row, None, _PROVIDER)
        ]
        found = [
            known.find([text for role, text in call.messages if role == "user"])
            for call in self.calls
        ]
        if None in found:
            raise InputError("trials: a prompt that is not known")
        self.asked: list[RecognisedPrompt] = [one for one in found if one is not None]
        control = [study.control_of(key) for key in trials["stereotype"]]
        columns = {c: pl.col(c) for c in SCORES if c in trials.columns}
        self.rows = trials.select(**columns).with_columns(
            control=pl.Series(control, dtype=pl.String), scoring=pl.lit("exact")
        )
        absent = (pl.lit(None, kind).alias(c) for c, kind in SCORES.items() if c not in self.rows)
        self.rows = self.rows.with_columns(absent).select(list(SCORES))


def draw_scores(questions: Questions, simulation: Simulation) -> pl.DataFrame:
    """Return the scores that reading the answers of a simulated model would give.

    Nothing is written or read: of instruments whose answers are one pairing or one choice the score
    follows from what the model has in mind. Columns of `results.SCORES`, those of reading null.
    """
    (name,) = questions.rows["instrument"].unique()
    measure = measure_of(name)
    half = (measure.high - measure.low) / 2.0
    said = [
        intend(simulation, question, call)[0]
        for question, call in zip(questions.asked, questions.calls, strict=True)
    ]
    scores = [None if one is None else measure.neutral + half * one.lean for one in said]
    return questions.rows.with_columns(
        model=pl.lit(f"simulated/{simulation.name}"),
        score=pl.Series(scores, dtype=pl.Float64),
        reason=pl.Series([None if one else "refused" for one in said], dtype=pl.String),
    )


def _answered(
    trial: Mapping[str, Any], simulation: Simulation, known: Recognition
) -> dict[str, Any]:
    mode, profile = MODES[trial["mode"]], None

    def reply(messages: list[Message], closed: bool) -> SimulatedReply:
        sent = [(one["role"], one["content"]) for one in messages]
        kind = mode.kind if closed else ""
        plain = kind == LIKELIHOODS
        call = SimulatedCall(sent, *_closed(trial, kind), trial["seed"], plain)
        return answer(simulation, known, call)

    if trial["followup"]:
        (messages,) = mode.sent(trial, None, _PROVIDER)
        profile = reply(messages, closed=False).text
    calls = mode.sent(trial, profile, _PROVIDER)[int(bool(trial["followup"])) :]
    replies = [reply(messages, closed=True) for messages in calls]
    return {
        "response": _response(trial, mode.kind, replies),
        "profile": profile,
        "stop_reason": "stop",
        "reasoning_tokens": replies[-1].reasoning_tokens,
    }


def _closed(
    trial: Mapping[str, Any], kind: str
) -> tuple[Mapping[str, list[str]] | None, list[str] | None, bool]:
    """Return properties, options and whether log-probabilities are asked for."""
    if kind == LIKELIHOODS:
        return None, Texts.of(trial).ends, True
    if kind == LOGITS:
        return None, [f" {option}" for option in trial["options"]], True
    if not kind or trial["schema"] is None:
        return None, None, False
    return allowed_values(json.loads(trial["schema"])), None, False


def _response(trial: Mapping[str, Any], kind: str, replies: list[SimulatedReply]) -> str:
    """Write the replies as the response of a trial."""
    if kind not in (LOGITS, LIKELIHOODS):
        return replies[0].text
    if kind == LIKELIHOODS:
        asked = Texts.of(trial)
        found = [[dict(reply.logprobs)[end] for end in asked.ends] for reply in replies]
        return asked.response(trial, found)
    words = zip(trial["attributes"], (dict(reply.logprobs) for reply in replies), strict=False)
    listed = {w: [found.get(f" {option}") for option in trial["options"]] for w, found in words}
    return json.dumps(listed, ensure_ascii=False)
