"""Trials as an inspect task, one sample per trial; responses from inspect's logs.

Clients, retries, rate limits and logs are inspect's. The mode defines what is asked and read. The
solver passes each answer to `on_answer` immediately.

``inspect eval clinometer/…`` feeds ``clinometer score``: an ``.eval`` file is a zip with one member
of JSON per sample. Members are read one at a time: building inspect's own sample objects takes
some 15 ms each.
"""

from __future__ import annotations

import json
import logging
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import polars as pl
from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import Model, ModelOutput, get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver

from clinometer.asking.generating import forget_events
from clinometer.contracts.catalogue import INSTRUMENTS
from clinometer.contracts.episodes import Game
from clinometer.errors import InputError
from clinometer.models.outputs import reasoning_text
from clinometer.models.providers import Provider, find_provider
from clinometer.models.reaching import locate_sender
from clinometer.models.retries import count_requests, spent_beyond
from clinometer.models.withholding import withhold_in_error, withhold_in_events
from clinometer.modes import LIKELIHOODS, LOGITS, MODES
from clinometer.modes.mode import Answer, chat_messages, opening_messages, sent_texts
from clinometer.modes.needs import check_need, refuse_unable
from clinometer.packed import Archive, open_archive
from clinometer.results import RESPONSES
from clinometer.secrets import has_secrets, holds_secret, keep_environment, redacted, withhold
from clinometer.texts import encodable

if TYPE_CHECKING:
    from clinometer.asking.budget import Ledger

__all__ = [
    "LOG_LEVEL",
    "Answer",
    "Begun",
    "ask",
    "ask_sequentially",
    "ask_trial",
    "describe_error",
    "read_logs",
    "redact_messages",
    "samples",
    "trials_task",
    "withhold_in_logs",
]

#: What inspect shows of its messages.
LOG_LEVEL = "error"

#: Attributes that every record of a log has; the others came with its message.
_RECORD_ATTRIBUTES = frozenset(vars(logging.makeLogRecord({})))


#: Episode, by the id of its trial → the answers to its first questions, of an earlier session.
Begun = Mapping[str, Sequence[Answer]]


def samples(trials: pl.DataFrame) -> list[Sample]:
    """Turn trials into inspect samples: the id is the trial's, the trial stands in the metadata."""
    return [
        Sample(id=row["trial_id"], input=opening_messages(row), metadata=row)
        for row in trials.iter_rows(named=True)
    ]


def trials_task(
    trials: pl.DataFrame, solver: Solver, *, model: Model | None = None, **task: Any
) -> Task:
    """Make the inspect task that asks trials; `task` are further arguments of `inspect_ai.Task`."""
    return Task(dataset=MemoryDataset(samples(trials)), solver=solver, model=model, **task)


@solver
def ask(
    on_answer: Callable[[Answer], None] | None = None,
    ledger: Ledger | None = None,
    proven: Iterable[str] = (),
    begun: Begun = MappingProxyType({}),
) -> Solver:
    """Ask one trial in its response mode.

    Parameters
    ----------
    on_answer
        Called with the trial's id and calls, and the response, its stop reason and tokens, or
        the error that came instead.
    ledger
        Says whether the calls of a trial may be made; where not the trial is left unasked, so
        that a budget ends a run without an error.
    proven
        Modes that the model is known to be able to do, from earlier answers.
    begun
        Episodes that go on in the middle.

    Returns
    -------
    Solver
        It raises what the provider raises once its retries are used up, and `ModelError` where
        the provider cannot do what the mode needs.
    """
    able = set(proven)
    keep_environment()

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        """Ask the trial of a sample, if its calls may be made."""
        try:
            answered = await _ask_within(
                state.metadata, get_model(), on_answer, able, ledger, begun
            )
        except Exception as error:
            withhold_in_error(error)
            raise
        finally:
            withhold_in_events()  # inspect writes its log when this returns
        if answered is None:
            state.metadata["unasked"] = True
        else:
            _log(state, *answered)
        return state

    return solve


async def ask_sequentially(
    trials: pl.DataFrame,
    model: Model,
    on_answer: Callable[[Answer], None],
    ledger: Ledger,
    proven: Iterable[str],
    begun: Begun = MappingProxyType({}),
) -> None:
    """Ask trials without an evaluation of inspect's, of which a sample costs 16 ms.

    For simulated models, whose answers cost less than 1 ms and need no log. As `ask`, but an error
    ends its own trial alone.
    """
    able = set(proven)
    async with model:
        for trial in trials.iter_rows(named=True):
            forget_events()
            with suppress(Exception):  # was recorded
                if await _ask_within(trial, model, on_answer, able, ledger, begun) is None:
                    return


async def _ask_within(
    trial: Mapping[str, Any],
    model: Model,
    on_answer: Callable[[Answer], None] | None,
    able: set[str],
    ledger: Ledger | None,
    begun: Begun,
) -> tuple[Answer, list[ModelOutput]] | None:
    """Ask a trial, or the steps of an episode; None where a limit lets its calls not be made."""
    if trial.get("steps"):
        return await _ask_episode(trial, model, on_answer, able, ledger, begun)
    if ledger is not None and not await _may_ask(trial, ledger):
        return None
    return await ask_trial(trial, model, on_answer, able, ledger)


async def _ask_episode(
    trial: Mapping[str, Any],
    model: Model,
    on_answer: Callable[[Answer], None] | None,
    able: set[str],
    ledger: Ledger | None,
    begun: Begun,
) -> tuple[Answer, list[ModelOutput]] | None:
    """Ask the questions of an episode that have no answer yet, one after another.

    Each answer is passed on at once, as `episode` and `step`, then that of the whole trial.
    """
    keep = on_answer or (lambda _: None)
    episode = trial["trial_id"]
    game = Game(INSTRUMENTS[trial["instrument"]].episode, trial, begun.get(episode, ()))

    def on_step(answer: Answer) -> None:
        """Keep the answer to a step; an error is one of the trial, which goes on from here."""
        if "error" not in answer:
            answer = {**answer, "episode": episode, "step": game.step}
            del answer["trial_id"]
        keep(answer)

    while game.question is not None:
        if ledger is not None and not await _may_ask(game.question, ledger):
            return None
        answer, _ = await ask_trial(game.question, model, on_step, able, ledger)
        game.take(answer)
    time = datetime.now(UTC).isoformat(timespec="seconds")
    answer = game.answer()
    # Its calls and tokens were counted step by step.
    keep({"trial_id": episode, "calls": 0, "at": time, "summed": True, **answer})
    return answer, [ModelOutput.from_content(model=str(model), content=answer["response"])]


async def _may_ask(trial: Mapping[str, Any], ledger: Ledger) -> bool:
    """Reserve the calls of a trial, if they may be made."""
    calls = MODES[trial["mode"]].calls(trial, find_provider(ledger.journal.model))
    return await ledger.may_call(calls, trial["trial_id"])


async def ask_trial(
    trial: Mapping[str, Any],
    model: Model,
    on_answer: Callable[[Answer], None] | None = None,
    able: Iterable[str] = (),
    ledger: Ledger | None = None,
) -> tuple[Answer, list[ModelOutput]]:
    """Ask one trial; an error is passed on after it was recorded.

    `able` are the modes that the model is known to be able to do; to a set this one is added.
    """
    mode = MODES[trial["mode"]]
    able = able if isinstance(able, set) else {*able}
    calls = mode.calls(trial, find_provider(str(model)))
    identity = {"trial_id": trial["trial_id"], "calls": calls}
    counted = count_requests()
    if ledger is not None:
        bear = partial(ledger.bear, key=trial["trial_id"])
        counted = count_requests(calls, ledger.may_retry, bear)
    with counted as requests:
        try:
            refuse_unable([str(model)], {mode.name} - able)
            outputs = await mode.ask(trial, model)
            answer = mode.answer(trial, outputs, str(model))
            check_need(trial, answer, str(model), able)
        except Exception as error:  # a provider's, after its retries
            if on_answer is not None:
                beyond = spent_beyond(requests, calls, ())
                on_answer({**identity, **beyond, "error": describe_error(error)})
            raise
    if on_answer is not None:
        time = datetime.now(UTC).isoformat(timespec="seconds")
        beyond = spent_beyond(requests, calls, [answer])
        on_answer({**identity, **beyond, "at": time, **answer})
    return answer, outputs


def _log(state: TaskState, answer: Answer, outputs: Sequence[ModelOutput]) -> None:
    """Set down the conversation for inspect's log; a choice per word stands as one answer."""
    trial = state.metadata
    output = outputs[-1]
    if MODES[trial["mode"]].kind in (LOGITS, LIKELIHOODS):
        output = ModelOutput.from_content(model=output.model, content=answer["response"])
    if trial["followup"]:
        *_, conversation = sent_texts(trial, answer["profile"], Provider())
        state.messages += [outputs[0].message, *chat_messages(conversation[-1:])]
    state.messages.append(output.message)
    state.output = output
    trial["profile"] = answer["profile"]
    trial["first_tokens"] = answer["first_tokens"]


def describe_error(error: BaseException) -> str:
    """Name an error, and whose it is, in one line; of a retry that gave up, the last attempt's."""
    attempt = getattr(error, "last_attempt", None)
    if attempt is not None and (cause := attempt.exception()) is not None:
        return describe_error(cause)
    if isinstance(error, BaseExceptionGroup):  # of calls that were made at once
        return describe_error(error.exceptions[0])
    # Of a request that was refused, inspect's text begins with the request itself.
    words = getattr(error, "provider_message", None) or str(error)
    message = " ".join(redacted(encodable(words)).split())
    text = f"{type(error).__name__}: {message[:ERROR_CHARACTERS]}".removesuffix(": ")
    place = locate_sender(error)
    return f"{text} ({place})" if place else text


#: The longest text of an error that is kept with every answer it cost.
ERROR_CHARACTERS = 400

#: Responses of a log in memory at a time.
PIECE = 5_000

#: What reading a log raises that is damaged, or another's.
_UNREADABLE = (
    zipfile.BadZipFile,
    OSError,
    EOFError,
    ValueError,
    TypeError,
    AttributeError,
    LookupError,
    RuntimeError,
    pl.exceptions.PolarsError,  # an encrypted member; one that is too deep
)


def read_logs(path: Path) -> Iterator[pl.DataFrame]:
    """Yield the responses of a log, or of all logs in a folder.

    Parameters
    ----------
    path
        An ``.eval`` file, finished or not, or a folder with such files.

    Yields
    ------
    polars.DataFrame
        Columns of `results.RESPONSES`; samples that were never asked are left out. Of a task that
        was retried, the last answer to each trial; repetitions (epochs) are draws of their own.

    Raises
    ------
    InputError
        If there is no log, a log is not readable, or its samples are not Clinometer's.
    """
    paths = sorted(path.glob("**/*.eval")) if path.is_dir() else [path]
    if not paths:
        raise InputError(f"{path}: no .eval log in this folder")
    for logs in _logs_of_tasks(paths):
        rows = _rows(logs[0]) if len(logs) == 1 else _last_rows(logs)
        while piece := list(islice(rows, PIECE)):
            try:
                frame = pl.DataFrame(piece, schema=RESPONSES)  # values may be of other types
            except _UNREADABLE as error:
                raise InputError(f"{logs[0]}: not readable as a Clinometer log: {error}") from None
            yield frame


def _logs_of_tasks(paths: Iterable[Path]) -> Iterator[list[Path]]:
    """Yield the logs of each task, in the order of its first; of one that was retried, several.

    The newest comes first.
    """
    tasks: dict[str, list[tuple[str, Path]]] = {}
    for path in paths:
        header = _header(path)
        task = header.get("task_id") or str(path)  # without an id a log is a task of its own
        tasks.setdefault(task, []).append((str(header.get("created")), path))
    for logs in tasks.values():
        yield [path for _, path in sorted(logs, reverse=True)]


def _last_rows(logs: Iterable[Path]) -> Iterator[dict[str, Any]]:
    """Yield the last answer to each trial of a task; an error only if none has an answer."""
    answered: set[str] = set()
    failed: dict[str, dict[str, Any]] = {}
    for path in logs:
        for row in _rows(path):
            if row["trial_id"] in answered:
                continue
            if row["error"] is not None:
                failed.setdefault(row["trial_id"], row)
            else:
                answered.add(row["trial_id"])
                yield row
    for trial, row in failed.items():
        if trial not in answered:
            yield row


def withhold_in_logs(folder: Path) -> None:
    """Leave secrets out of inspect's logs, whatever their members are called.

    A log without any, or cut off by a kill so that it cannot be read, stays as it is.
    """
    import inspect_ai.log  # noqa: F401 - teaches zipfile the compression of the logs

    if not has_secrets():
        return
    for path in folder.glob("*.eval"):
        part = path.with_suffix(".part")
        try:
            with zipfile.ZipFile(path) as log:
                if not any(holds_secret(log.read(member)) for member in log.infolist()):
                    continue
                with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as new:
                    for member in log.infolist():
                        new.writestr(member.filename, withhold(log.read(member).decode()))
            part.replace(path)
        except _UNREADABLE:
            part.unlink(missing_ok=True)


def redact_messages() -> None:
    """Leave secrets out of what inspect shows and traces, before it is written."""
    from inspect_ai._util.logger import init_logger

    init_logger(LOG_LEVEL)
    for handler in logging.getLogger("inspect_ai").handlers:
        handler.addFilter(_redact_message)


def _redact_message(record: logging.LogRecord) -> bool:
    """Leave secrets out of a message; what it carries besides is in inspect's trace."""
    if has_secrets():
        record.msg = redacted(record.getMessage())
        record.args = ()  # they are in the message now
        if record.exc_info:
            record.exc_text = redacted(logging.Formatter().formatException(record.exc_info))
        for name, value in list(vars(record).items()):
            if name not in _RECORD_ATTRIBUTES and isinstance(value, str):
                setattr(record, name, redacted(value))
    return True


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the responses of a log, in the order of its members."""
    with _open_log(path) as log:
        header = _evaluation(log)
        for name in log.names:
            if not name.startswith("samples/"):
                continue
            if (row := _row(json.loads(log.read(name)), header)) is not None:
                yield row


def _header(path: Path) -> dict[str, Any]:
    with _open_log(path) as log:
        return _evaluation(log)


@contextmanager
def _open_log(path: Path) -> Iterator[Archive]:
    """Open a log; every way this or reading it fails is an InputError."""
    try:
        with open_archive(path) as log:
            yield log
    except _UNREADABLE as error:
        raise InputError(f"{path}: not readable as a Clinometer log: {error}") from None


def _evaluation(log: Archive) -> dict[str, Any]:
    """Return what a log says of its evaluation."""
    # An evaluation that was killed has no header yet, but what it started with.
    member = "header.json" if "header.json" in log.names else "_journal/start.json"
    evaluation = json.loads(log.read(member))["eval"]
    evaluation["model"]  # noqa: B018 - a log without a model is none of Clinometer's
    return dict(evaluation)


def _row(sample: dict[str, Any], header: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the response of a sample; None if it was never asked."""
    trial = sample["metadata"]
    if "trial_id" not in trial:
        raise KeyError(f"sample {sample.get('id')} has no trial in its metadata")
    if trial.get("unasked"):
        return None
    error = sample.get("error")
    choices = sample["output"].get("choices") or [{}]
    content = choices[0].get("message", {}).get("content", "")
    usage = sample["output"].get("usage") or {}
    return {
        "model": header["model"],
        **{name: trial.get(name) for name in RESPONSES if name in trial},
        **_draw_of_epoch(trial, sample.get("epoch") or 1, header),
        "response": None if error else encodable(_text(content)),
        "reasoning": encodable(reasoning_text(content)) or None,
        "stop_reason": choices[0].get("stop_reason"),
        "input_tokens": usage.get("input_tokens"),
        "output_tokens": usage.get("output_tokens"),
        "reasoning_tokens": usage.get("reasoning_tokens"),
        "error": error["message"] if error else None,
    }


def _draw_of_epoch(
    trial: Mapping[str, Any], epoch: int, header: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what tells a repetition of inspect's from the first: draws of their own."""
    if epoch == 1:
        return {}
    # The number of samples is more than any draw's: draws of two epochs have no number in common.
    before = (epoch - 1) * int((header.get("dataset") or {}).get("samples") or 0)
    names = [name for name in ("trial_id", "pair_id") if trial.get(name)]
    ids = {name: f"{trial[name]}.epoch{epoch}" for name in names}
    return {**ids, "iteration": trial["iteration"] + before}


def _text(content: str | list[dict[str, Any]]) -> str:
    """Return the text of a message, which inspect stores as one or in parts."""
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content if part.get("type") == "text")
