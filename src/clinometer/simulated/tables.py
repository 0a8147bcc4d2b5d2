"""Answers a table of trials in this process, without inspect: for benchmarks and tests.

What is sent and how it is read are those of a run (`Mode.sent`, the readers); what inspect does
besides, with its logs and retries, is left out. A test holds that both ways have the same answers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import polars as pl

from clinometer.contracts.catalogue import INSTRUMENTS, measure_of
from clinometer.contracts.episodes import Game
from clinometer.contracts.simulation import RecognisedPrompt
from clinometer.errors import InputError
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
from clinometer.simulated.recognising import Recognition, shipped_recognition
from clinometer.simulated.truth import Simulation
from clinometer.stimuli import Study


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
    recognition = recognition if recognition is not None else shipped_recognition()
    rows = []
    for trial in trials.iter_rows(named=True):
        response = _answer_trial(trial, simulation, recognition)
        rows.append({**trial, "model": f"simulated/{simulation.name}", **response})
    return pl.DataFrame(rows, schema=RESPONSES)


#: What a simulated model can do.
_PROVIDER = find_provider("simulated/neutral")


class SimulatedQuestions:
    """What trials ask in free text, recognised once for the many models that are drawn.

    Parameters
    ----------
    trials
        Columns of `results.TRIALS`, of one study: one prompt each, in mode ``free``.
    study
        The study.
    """

    def __init__(self, trials: pl.DataFrame, study: Study) -> None:
        free = [name for name, mode in MODES.items() if mode.kind == TEXT]
        if trials["followup"].count() or not trials["mode"].is_in(free).all():
            raise InputError("trials: scores are drawn of single prompts in free text alone")
        recognition = Recognition([study])
        self.calls: list[SimulatedCall] = []
        self.prompts: list[RecognisedPrompt] = []
        for row in trials.iter_rows(named=True):
            for messages in MODES[row["mode"]].sent(row, None, _PROVIDER):
                call = SimulatedCall(_roles_and_texts(messages), seed=row["seed"])
                prompt = recognition.find([text for role, text in call.messages if role == "user"])
                if prompt is None:
                    raise InputError("trials: a prompt that is not known")
                self.calls.append(call)
                self.prompts.append(prompt)
        self.rows = _score_columns(trials, study)


def _roles_and_texts(messages: list[Message]) -> list[tuple[str, str]]:
    """Return role and text of each message."""
    return [(message["role"], message["content"]) for message in messages]


def _score_columns(trials: pl.DataFrame, study: Study) -> pl.DataFrame:
    """Return the columns of `results.SCORES` that trials have; the others null."""
    controls = [study.control_of(key) for key in trials["stereotype"]]
    columns = {name: pl.col(name) for name in SCORES if name in trials.columns}
    rows = trials.select(**columns).with_columns(
        control=pl.Series(controls, dtype=pl.String), scoring=pl.lit("exact")
    )
    absent = [pl.lit(None, kind).alias(name) for name, kind in SCORES.items() if name not in rows]
    return rows.with_columns(absent).select(list(SCORES))


def draw_scores(questions: SimulatedQuestions, simulation: Simulation) -> pl.DataFrame:
    """Return the scores that reading the answers of a simulated model would give.

    Nothing is written or read: of instruments whose answers are one pairing or one choice the score
    follows from what the model has in mind. Columns of `results.SCORES`, those of reading null.
    """
    (name,) = questions.rows["instrument"].unique()
    measure = measure_of(name)
    half = (measure.high - measure.low) / 2.0
    scores: list[float | None] = []
    reasons: list[str | None] = []
    for prompt, call in zip(questions.prompts, questions.calls, strict=True):
        intention, _ = intend(simulation, prompt, call)
        scores.append(None if intention is None else measure.neutral + half * intention.lean)
        reasons.append("refused" if intention is None else None)
    return questions.rows.with_columns(
        model=pl.lit(f"simulated/{simulation.name}"),
        score=pl.Series(scores, dtype=pl.Float64),
        reason=pl.Series(reasons, dtype=pl.String),
    )


def _answer_trial(
    trial: Mapping[str, Any], simulation: Simulation, recognition: Recognition
) -> dict[str, Any]:
    """Return the columns of a response to a trial that its answer gives."""
    if trial["steps"]:
        game = Game(INSTRUMENTS[trial["instrument"]].episode, trial)
        while game.question is not None:
            game.take(_answer_trial(game.question, simulation, recognition))
        return game.answer()
    mode = MODES[trial["mode"]]

    def reply(messages: list[Message], closed: bool) -> SimulatedReply:
        """Answer one conversation; not `closed`: in free text, whatever the mode."""
        kind = mode.kind if closed else ""
        properties, options, logprobs = _allowed(trial, kind)
        call = SimulatedCall(
            _roles_and_texts(messages),
            properties,
            options,
            logprobs,
            trial["seed"],
            plain=kind == LIKELIHOODS,
        )
        return answer(simulation, recognition, call)

    profile = None
    if trial["followup"]:
        (messages,) = mode.sent(trial, None, _PROVIDER)
        profile = reply(messages, closed=False).text
    # The messages of the profile are sent already.
    calls = mode.sent(trial, profile, _PROVIDER)[int(bool(trial["followup"])) :]
    replies = [reply(messages, closed=True) for messages in calls]
    return {
        "response": _response(trial, mode.kind, replies),
        "profile": profile,
        "stop_reason": "stop",
        "reasoning_tokens": replies[-1].reasoning_tokens,
    }


def _allowed(
    trial: Mapping[str, Any], kind: str
) -> tuple[Mapping[str, list[str]] | None, list[str] | None, bool]:
    """Return properties, options and whether log-probabilities are asked for."""
    if kind == LIKELIHOODS:
        return None, Texts.from_trial(trial).ends, True
    if kind == LOGITS:
        return None, [f" {option}" for option in trial["options"]], True
    if not kind or trial["schema"] is None:
        return None, None, False
    return allowed_values(json.loads(trial["schema"])), None, False


def _response(trial: Mapping[str, Any], kind: str, replies: list[SimulatedReply]) -> str:
    """Write the replies as the response of a trial."""
    if kind not in (LOGITS, LIKELIHOODS):
        return replies[0].text
    by_text = [dict(reply.logprobs) for reply in replies]
    if kind == LIKELIHOODS:
        texts = Texts.from_trial(trial)
        rows = []
        for logprobs in by_text:
            rows.append([logprobs[end] for end in texts.ends])
        return texts.response(trial, rows)
    word_logprobs: dict[str, list[float | None]] = {}
    for word, logprobs in zip(trial["attributes"], by_text, strict=False):
        word_logprobs[word] = [logprobs.get(f" {option}") for option in trial["options"]]
    return json.dumps(word_logprobs, ensure_ascii=False)
