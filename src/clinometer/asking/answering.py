"""Answers shards with models that inspect opens, in this process, several at the same time.

Each answer becomes a line of ``00000.answers.jsonl.part`` at once; the file loses ``.part`` when
all requests of its shard have been asked. Whoever continues a shard asks what has no answer in it:
a killed process loses the calls under way and no others. One process at a time answers a shard.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from clinometer.asking.budget import Budget, Ledger
from clinometer.asking.generating import Line, Prompt, Session
from clinometer.asking.requests import inspect_settings, write_output
from clinometer.asking.shards import ANSWERED, Answers, names_in
from clinometer.errors import ModelError
from clinometer.models.opening import Connection, Generation, open_model
from clinometer.models.providers import find_provider
from clinometer.results.locks import hold_if_free
from clinometer.results.origins import ShardMarks
from clinometer.results.records import Journal
from clinometer.secrets import change_texts, withhold

if TYPE_CHECKING:
    from inspect_ai.model import Model, ModelOutput

#: Models of services that are asked at the same time.
MODELS = 20

#: Stands at the end of the file of answers until all of its shard is asked.
PART = ".part"


@dataclass(frozen=True)
class Shard:
    """Requests to one model in a file."""

    model: str
    path: Path
    names: Collection[str] | None = None
    """Names of the requests that are to be asked; None: all."""

    def unanswered(self, answers: Answers) -> list[dict[str, Any]]:
        """Return the requests that have no answer; raises InputError if the file is damaged."""
        to_ask = names_in(self.path) if self.names is None else self.names
        with self.path.open("rb") as file:
            requests = [json.loads(line) for line in file]
        names = {name for name in to_ask if name not in answers}
        return [request for request in requests if request["custom_id"] in names]


class ShardAnswerer:
    """A model that answers shards; it is opened with the first and stays open until `close`.

    Parameters
    ----------
    model
        Its name as inspect has it.
    connection
        How it is reached.
    on_answer
        Called after each answer.
    """

    def __init__(
        self,
        model: str,
        connection: Connection,
        on_answer: Callable[[], object] = lambda: None,
    ) -> None:
        self.model = model
        self.connection = connection
        self.on_answer = on_answer
        # Its journal is replaced by the answers of each shard (`_ask`).
        self._ledger = Ledger(Journal(Path(), model), Budget())

    @cached_property
    def _open_model(self) -> Model:
        # The name comes from a file, which may come from anywhere.
        if find_provider(self.model).own:
            raise ModelError(f"{self.model}: no file names code to run; clinometer audit asks it")
        # All settings of a call are in its request.
        model: Model = open_model(self.model, Generation(None, None, None), self.connection)
        return model

    async def close(self) -> None:
        """Close the model."""
        if "_open_model" in self.__dict__:  # reading the property would open it
            await self._open_model.__aexit__(None, None, None)

    async def answer(self, shard: Shard) -> bool:
        """Ask what has no answer yet; return whether the shard is answered.

        It is not, if another process answers it at the time.

        Raises
        ------
        ModelError
            If the model cannot be opened, or gives nothing but errors; answers are kept.
        InputError
            If the shard is damaged, or an answer cannot be written.
        """
        answers = shard.path.with_suffix(ANSWERED)
        part = answers.with_name(answers.name + PART)
        with hold_if_free(shard.path) as free:
            if free and not answers.exists():
                await self._ask(shard, part)
                part.replace(answers)
        return free

    async def answer_all(self, shards: Sequence[Shard]) -> int:
        """Answer shards one after another and close; return how many another process answers."""
        try:
            elsewhere = 0
            for shard in shards:
                elsewhere += not await self.answer(shard)
            return elsewhere
        finally:
            await self.close()

    async def _ask(self, shard: Shard, part: Path) -> None:
        """Append the answers that are missing."""
        _drop_torn(part)
        self._ledger.journal = _AnswerFile(part, self.model)
        requests = _Requests(self.model, shard.unanswered(Answers([part])))
        session = Session(self._open_model, requests, self._ledger, self._count)
        try:
            await session.ask(alone=0 if self.connection.batch else 1)  # a batch of one takes long
        finally:
            self._ledger.journal.close()
        if self._ledger.fatal is not None:
            raise self._ledger.fatal

    def _count(self, model: str, answer: dict[str, Any]) -> None:
        """Tell of an answer; called by the session for errors too."""
        if "error" not in answer:
            self.on_answer()


def answer_side_by_side(
    work: Sequence[tuple[ShardAnswerer, Sequence[Shard]]],
) -> tuple[int, list[ModelError]]:
    """Answer the shards of several models, up to `MODELS` of them at the same time.

    Models that run on this machine share its memory and are asked one after another. Returns how
    many shards another process is answering, and why models were given up. What concerns all
    models is raised when they have ended; see `ShardAnswerer.answer`.
    """
    elsewhere = 0
    errors: list[ModelError] = []
    for outcome in asyncio.run(_answer_models(work)):
        if isinstance(outcome, ModelError):
            errors.append(outcome)
        elif isinstance(outcome, BaseException):
            raise outcome
        else:
            elsewhere += outcome
    return elsewhere, errors


async def _answer_models(
    work: Sequence[tuple[ShardAnswerer, Sequence[Shard]]],
) -> list[int | BaseException]:
    """Return, for each model, how many shards another process answers, or what it raised."""
    service_slots = asyncio.Semaphore(MODELS)
    local_lock = asyncio.Lock()

    async def answer_model(answerer: ShardAnswerer, shards: Sequence[Shard]) -> int:
        """Answer the shards of one model when it is its turn."""
        async with local_lock if find_provider(answerer.model).local else service_slots:
            return await answerer.answer_all(shards)

    calls = [answer_model(answerer, shards) for answerer, shards in work]
    return await asyncio.gather(*calls, return_exceptions=True)


def _drop_torn(part: Path) -> None:
    """Remove a last line that a killed process left unfinished; an absent file is made."""
    with part.open("a+b") as file:
        file.seek(0)  # it is opened at its end
        complete = sum(len(line) for line in file if line.endswith(b"\n"))
        file.truncate(complete)


class _AnswerFile(Journal):
    """A journal whose lines are those of a batch."""

    def __init__(self, path: Path, model: str) -> None:
        super().__init__(path.parent, model)
        self.folder = path.parent  # not its folder `answers`, as a results directory has it
        self._path = path
        # The file is DIRECTORY/shards/ROUND/MODEL/NAME.
        self._marks = ShardMarks(path.parents[3])

    def _open(self) -> BinaryIO:
        self.close()
        _drop_torn(self._path)
        self._lines = 0
        return self._path.open("ab", buffering=0)

    def line_of(self, answer: Line) -> bytes:
        """Return the line of a batch, with a mark at its end and no hash."""
        return self._marks.add(json.dumps(change_texts(answer, withhold)).encode())


class _Requests:
    """The requests of a shard without an answer, as a `generating.Strategy`; a call is one."""

    def __init__(self, model: str, requests: Sequence[dict[str, Any]]) -> None:
        self.model = model
        self.requests = requests

    def passes(self) -> Iterator[Callable[[], dict[str, Any] | None]]:
        """Yield one function, which gives the requests in their order."""
        calls = iter(self.requests)
        yield lambda: next(calls, None)

    def name(self, call: dict[str, Any]) -> tuple[str, str]:
        """Return the name of a request, which is asked once."""
        return call["custom_id"], ""

    def prompts(self, call: dict[str, Any]) -> list[Prompt]:
        """Return the only form of a prompt: that of the body."""
        body = call["body"]
        return [(body["messages"], inspect_settings(self.model, body))]

    def answers(self, call: dict[str, Any], prompt: Prompt, output: ModelOutput) -> list[Line]:
        """Return the line that a batch would have for an output."""
        response = {"status_code": 200, "body": write_output(output)}
        return [{"custom_id": call["custom_id"], "response": response}]

    def failures(self, call: dict[str, Any], error: str) -> list[Line]:
        """Return the line that a batch would have for an error."""
        return [{"custom_id": call["custom_id"], "response": None, "error": error}]

    def take(self, call: dict[str, Any], lines: Sequence[Line]) -> int:
        """Return 1 for an answer, 0 for an error."""
        return int("error" not in lines[0])
