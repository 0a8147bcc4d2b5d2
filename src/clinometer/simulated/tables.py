"""Answers a table of trials in this process, without inspect: for benchmarks and tests.

What is sent and how it is read are those of a run (`Mode.sent`, the readers); what inspect does
besides, with its logs and retries, is left out. A test holds that both ways have the same answers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import polars as pl

from clinometer.modes import LOGITS, MODES
from clinometer.modes.mode import Message
from clinometer.results import RESPONSES
from clinometer.simulated.answering import SimulatedCall, SimulatedReply, allowed_values, answer
from clinometer.simulated.recognising import Recognition
from clinometer.simulated.truth import Simulation

__all__ = ["answer_trials"]


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


def _answered(
    trial: Mapping[str, Any], simulation: Simulation, known: Recognition
) -> dict[str, Any]:
    mode, profile = MODES[trial["mode"]], None

    def reply(messages: list[Message], closed: bool) -> SimulatedReply:
        sent = [(one["role"], one["content"]) for one in messages]
        call = SimulatedCall(sent, *_closed(trial, mode.kind if closed else ""), trial["seed"])
        return answer(simulation, known, call)

    if trial["followup"]:
        (messages,) = mode.sent(trial, None, False)
        profile = reply(messages, closed=False).text
    calls = mode.sent(trial, profile, False)[int(bool(trial["followup"])) :]
    replies = [reply(messages, closed=True) for messages in calls]
    return {
        "response": _logprobs(trial, replies) if mode.kind == LOGITS else replies[0].text,
        "profile": profile,
        "stop_reason": "stop",
        "reasoning_tokens": replies[-1].reasoning_tokens,
    }


def _closed(
    trial: Mapping[str, Any], kind: str
) -> tuple[Mapping[str, list[str]] | None, list[str] | None, bool]:
    """Return properties, options and whether log-probabilities are asked for."""
    if kind == LOGITS:
        return None, [f" {option}" for option in trial["options"]], True
    if not kind or trial["schema"] is None:
        return None, None, False
    return allowed_values(json.loads(trial["schema"])), None, False


def _logprobs(trial: Mapping[str, Any], replies: list[SimulatedReply]) -> str:
    words = zip(trial["attributes"], (dict(reply.logprobs) for reply in replies), strict=False)
    listed = {w: [found.get(f" {option}") for option in trial["options"]] for w, found in words}
    return json.dumps(listed, ensure_ascii=False)
