"""Shards: what is left to ask, as files that any engine can answer, and the answers read back.

``shards/ROUND/MODEL/00000.jsonl`` holds the requests of one shard, a line each (`requests`); its
answers are ``00000.answers.jsonl`` beside it, or any file that is named. Which shard a trial is in
follows from its id and the number of shards alone. Answers may come in any order, twice or broken:
the first that is whole counts. A request whose shard has no answer at all, beside it or in a file
that is named, is still waited for; what an answered shard left open, and second turns, go into the
shards of the next round.

Answers go into the journal of the results directory, as those of a run do.
"""

from __future__ import annotations

import json
import re
import shutil
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from clinometer.asking.claim import Claimant
from clinometer.asking.requests import Request, read_output
from clinometer.errors import InputError, ModelError
from clinometer.models.batch_lines import BatchLine, read_line
from clinometer.models.bodies import BodyError
from clinometer.models.interfaces import CHAT
from clinometer.models.withholding import SecretRepeated, refuse_repetition
from clinometer.results.origins import COLLECTED, ShardMarks
from clinometer.results.records import slug
from clinometer.texts import read_text, write_bytes, write_text

if TYPE_CHECKING:
    from inspect_ai.model import ModelOutput

    from clinometer.models.opening import Connection

FOLDER, ANSWERED, SETTING = "shards", ".answers.jsonl", "shards.json"

#: Answers to calls of trials that are not complete, so that their files need not be kept.
PARTIAL_ANSWERS = f"kept{ANSWERED}"  # a name on disk: later rounds look for it

#: What OpenAI takes as one batch.
MOST_REQUESTS, MOST_BYTES = 50_000, 200 << 20

#: Characters of requests that wait in memory before they are written.
_IN_MEMORY = 32 << 20

#: A digit stands in words that differ between two errors of one kind: numbers, times, names of
#: requests.
_DIGIT = re.compile(r"\d")


class ModelQuestions(Protocol):
    """What one model is asked."""

    model: str

    @property
    def expected(self) -> int:
        """How many answers there are in the end: trials, associations or sentences."""
        ...

    @property
    def answered(self) -> int:
        """How many of them are there."""
        ...

    def unanswered(self, answers: Answers) -> Iterator[Request]:
        """Record what the answers complete; yield the requests that have none."""
        ...


class RequestPlan(Claimant, Protocol):
    """A plan of trials, or of a family, that can be asked as files of requests."""

    @property
    def models(self) -> Sequence[str]:
        """Whom it asks."""
        ...

    def questions(self, model: str, directory: Path, choices: int | None) -> ModelQuestions:
        """Return what is left to ask a model; `choices`: answers of a call, None for the usual."""
        ...

    def connection_of(self, model: str, connection: Connection) -> Connection:
        """Return how a model is reached."""
        ...

    def tokens_of_answer(self, model: str, choices: int | None) -> float:
        """Estimate the tokens of all answers to a call."""
        ...


@dataclass
class Collected:
    """What one call of `collect` found, for one model."""

    model: str
    expected: int = 0
    """How many answers there are in the end."""
    answered: int = 0
    """How many of them are there, after all calls so far."""
    next_round: int = 0
    """Requests without an answer, in the shards of the next round."""
    waiting: int = 0
    """Requests in shards of which nothing was answered."""
    names: set[str] = field(default_factory=set, repr=False)
    """Names of all these requests."""
    files: list[Path] = field(default_factory=list)
    """The shards that are to be asked."""
    failure: str | None = None
    """Why the model was given up, and its answers were read no further."""

    @property
    def complete(self) -> bool:
        """Whether every answer is there."""
        return self.failure is None and self.answered == self.expected


class Answers:
    """Answers in files, looked up by the name of their request.

    Attributes
    ----------
    broken, repeated
        Lines that are no answer, and answers to a request that has one already.
    first_broken
        Where the first line stands that is no answer, and why it is none.
    interfaces
        Answers in the form of another interface, by its name.
    error_places
        File and line of each error, by the name of its request.
    errors
        The error of each request that has no answer but an error, by its name.
    foreign
        Names of answers that are not of a request in the shards.
    kept
        Lines that will be needed again, by the name of their request.
    failing
        Names of requests that failed twice with the same error.
    from_files
        Names of answers and errors in `files`, which do not stand beside a shard.
    used
        Files with an answer or an error in them.
    unmarked
        Names of answers that do not carry a mark of the user's key.
    """

    def __init__(
        self,
        files: Sequence[Path] = (),
        shard_answers: Sequence[Path] = (),
        marks: ShardMarks | None = None,
    ) -> None:
        """Read `files`, then the answers that stand beside shards: the first answer counts.

        `marks`: those of the directory; None: it does not matter who answered.
        """
        self._marks = marks
        self.unmarked = set[str]()
        self.broken = self.repeated = 0
        self.first_broken = ""
        self.interfaces = Counter[str]()
        self.errors: dict[str, str] = {}
        self.error_places: dict[str, str] = {}
        self.kept: dict[str, bytes] = {}
        self.failing = set[str]()
        self.used = set[Path]()
        self._files: list[Path] = []
        #: By the name of a request: the number of its answer's file, and the line's first byte.
        self._places: dict[str, tuple[int, int]] = {}
        self._failures = set[tuple[str, str]]()
        for path in files:
            self._index(path)
        self.from_files = self._places.keys() | self.errors.keys()
        for path in shard_answers:
            self._index(path)
        # `_shards_without_answers` takes away the names of all requests that are in a shard.
        self.foreign = self._places.keys() | self.errors.keys()

    def __contains__(self, custom_id: str) -> bool:
        """Whether there is an answer that is whole."""
        return custom_id in self._places

    def find(self, request: Request) -> ModelOutput | None:
        """Return the answer to a request, or None; why there is none stands in `errors`."""
        name = request.custom_id
        if name not in self._places:
            return None
        try:
            # It was read before, by `_note`.
            output = read_output(read_line(self._line(name)).body or {})
            refuse_repetition(output)
        except (ModelError, SecretRepeated) as error:
            self.errors[name] = str(error)
            return None
        return output

    def origin(self, requests: Iterable[Request]) -> dict[str, str]:
        """Return what the line of a journal says of answers that anybody may have written."""
        is_collected = any(request.custom_id in self.unmarked for request in requests)
        return {"origin": COLLECTED} if is_collected else {}

    def keep(self, requests: Iterable[Request]) -> None:
        """Keep the answers to some requests, whatever becomes of their files."""
        for request in requests:
            if (name := request.custom_id) in self._places:
                self.kept[name] = self._line(name).rstrip() + b"\n"

    def _line(self, name: str) -> bytes:
        number, start = self._places[name]
        with self._files[number].open("rb") as file:
            file.seek(start)
            return file.readline()

    def _index(self, path: Path) -> None:
        """Note where the answers of a file stand."""
        number = len(self._files)
        self._files.append(path)
        try:
            with path.open("rb") as file:
                start = 0
                for row, text in enumerate(file, 1):
                    if text.strip():
                        self._note(text, (number, start), f"{path}:{row}")
                    start += len(text)
        except OSError as error:
            raise InputError(f"{path}: {error.strerror}") from None

    def _note(self, text: bytes, place: tuple[int, int], where: str) -> None:
        """Note one line by its place: an answer, an error, or neither, which costs only itself."""
        try:
            line = read_line(text)
        except BodyError as error:
            self.broken += 1
            self.first_broken = self.first_broken or f"{where}: {error}"
            return
        self.used.add(self._files[place[0]])
        if line.name in self._places:
            self.repeated += 1
        elif line.failure is not None:
            self._note_failure(line, line.failure, where)
        else:
            self.errors.pop(line.name, None)
            self._places[line.name] = place
            if line.interface != CHAT:
                self.interfaces[line.interface] += 1
            if self._marks is not None and not self._marks.holds(text):
                self.unmarked.add(line.name)

    def _note_failure(self, line: BatchLine, error: str, where: str) -> None:
        """Note why a request has no answer."""
        self.errors[line.name] = error
        self.error_places[line.name] = where
        if line.unsent:  # such an error says nothing about the request
            return
        kept_words = [word for word in error.split() if not _DIGIT.search(word)]
        failure = line.name, " ".join(kept_words)
        if failure in self._failures:
            self.failing.add(line.name)
        self._failures.add(failure)


def write_shards(directory: Path, requests: Iterable[Request], shards: int) -> list[Path]:
    """Write requests into the shards of a round, of which there are `shards` for each model.

    Parameters
    ----------
    directory
        A results directory.
    requests
        What is to be asked.
    shards
        How many files there are, at most.

    Returns
    -------
    list of Path
        The files, none of them empty. They appear when all are written.

    Raises
    ------
    InputError
        If a file cannot be written.
    """
    folder = directory / FOLDER / str(max(_rounds(directory), default=0) + 1)
    part = folder.with_name(f"{folder.name}.part")
    try:
        if part.exists():  # of a process that was killed
            shutil.rmtree(part)
        names = _write_lines(part, requests, shards)
        if names:
            part.replace(folder)
    except OSError as error:
        raise InputError(f"{folder}: {error.strerror}") from None
    finally:
        shutil.rmtree(part, ignore_errors=True)  # there is one if the requests ended in an error
    return [folder / name for name in sorted(names)]


def _write_lines(folder: Path, requests: Iterable[Request], shards: int) -> set[Path]:
    """Write requests into the files of a folder; return the files' paths in it."""
    pending: dict[Path, list[str]] = {}  # lines of each file that are not written yet
    size = 0
    names = set[Path]()
    for request in requests:
        name = Path(slug(request.model)) / f"{shard_of(request, shards):05d}.jsonl"
        line = request.line()
        pending.setdefault(name, []).append(line)
        size += len(line)
        if size > _IN_MEMORY:
            names |= _flush(folder, pending)
            size = 0
    return names | _flush(folder, pending)


def shard_of(request: Request, shards: int) -> int:
    """Return the shard of a request: all calls of a trial are in one."""
    # Not `hash`, which differs from process to process.
    return zlib.crc32(request.question.encode()) % shards


def _flush(folder: Path, pending: dict[Path, list[str]]) -> set[Path]:
    """Append lines to their files in a folder, and forget them; return the files' paths in it."""
    names = set(pending)
    for name, lines in pending.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)
    pending.clear()
    return names


def _rounds(directory: Path) -> list[int]:
    """Return the numbers of the rounds that are written."""
    # A round that is being written ends in `.part`, and is no number.
    return [int(p.name) for p in (directory / FOLDER).glob("*") if p.name.isdecimal()]


def collect(
    directory: Path, questions: Sequence[ModelQuestions], files: Sequence[Path] = ()
) -> tuple[list[Collected], Answers]:
    """Read answers to the shards of a directory, and write the shards of what is left.

    Parameters
    ----------
    directory
        A results directory with shards.
    questions
        What each model is asked.
    files
        Files of answers besides those that stand beside their shards.

    Returns
    -------
    tuple of list of Collected, Answers
        A row for each model; and the answers, with what of them could not be used.

    Raises
    ------
    InputError
        If there are no shards, or a file cannot be read or written.
    ModelError
        If the answers of every model are useless; where only some are, their rows say so.
    """
    setting = read_setting(directory)
    partial_answers = directory / FOLDER / PARTIAL_ANSWERS
    earlier = [partial_answers] if partial_answers.is_file() else []
    shard_answers = sorted((directory / FOLDER).glob(f"*/*/*{ANSWERED}"))
    answers = Answers([*earlier, *files], shard_answers, ShardMarks(directory))
    without_answers = _shards_without_answers(directory, answers)
    waiting = set[str]().union(*without_answers.values())
    rows = []
    errors = []
    for model_questions in questions:
        row = Collected(model_questions.model)
        requests = _requests_of_next_round(model_questions, answers, waiting, row)
        try:
            row.files = write_shards(directory, requests, setting["shards"])
        except ModelError as error:  # the other models go on
            row.failure = str(error)
            errors.append(error)
        # From here on `row.names` is complete: writing the shards has drawn all requests.
        for path, names in without_answers.items():
            if path.parent.name == slug(model_questions.model) and not names.isdisjoint(row.names):
                row.files.append(path)
        row.expected = model_questions.expected
        row.answered = model_questions.answered
        rows.append(row)
    if errors and len(errors) == len(rows):
        raise errors[0]
    write_bytes(partial_answers, b"".join(answers.kept.values()))
    return rows, answers


def _requests_of_next_round(
    questions: ModelQuestions, answers: Answers, waiting: set[str], row: Collected
) -> Iterator[Request]:
    """Yield the requests that no shard is waited for; count these and the others in `row`."""
    for request in questions.unanswered(answers):
        row.names.add(request.custom_id)
        if request.custom_id in waiting:
            row.waiting += 1
        else:
            row.next_round += 1
            yield request


def _shards_without_answers(directory: Path, answers: Answers) -> dict[Path, set[str]]:
    """Return the shards of which nothing is answered, and the names of their requests.

    A request that failed in one round is in a shard of the next; its error does not answer that.
    """
    without_answers = {}
    for path in shard_files(directory):
        names = names_in(path)
        answers.foreign -= names
        answers_path = path.with_suffix(ANSWERED)
        if answers_path not in answers.used and names.isdisjoint(answers.from_files):
            without_answers[path] = names
    return without_answers


def shard_files(directory: Path, model: str = "*") -> list[Path]:
    """Return the shards of all rounds, or those in the folder of a model, in the order written."""
    paths: list[Path] = []
    for number in sorted(_rounds(directory)):  # as numbers: 10 comes after 9
        folder = directory / FOLDER / str(number)
        paths += sorted(folder.glob(f"{model}/*.jsonl"))
    return [path for path in paths if not path.name.endswith(ANSWERED)]


def names_in(path: Path) -> set[str]:
    """Return the names of the requests of a shard."""
    try:
        with path.open("rb") as file:
            return {json.loads(line)["custom_id"] for line in file}
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        raise InputError(
            f"{path}: not a whole shard; restore it, or remove it and its requests are written anew"
        ) from None


def write_setting(directory: Path, setting: dict[str, Any]) -> None:
    """Note how shards were written; later rounds are written alike."""
    write_text(directory / FOLDER / SETTING, json.dumps(setting))


def has_shards(directory: Path) -> bool:
    """Return whether a round of shards is written."""
    return bool(_rounds(directory))


def read_setting(directory: Path) -> dict[str, Any]:
    """Read how shards were written; raises InputError if there are none."""
    path = directory / FOLDER / SETTING
    if not path.is_file():
        raise InputError(f"{directory}: no shards; write them with clinometer plan … --shards N")
    try:
        setting = json.loads(read_text(path))
        return {**setting, "shards": int(setting["shards"])}
    except (ValueError, TypeError, KeyError, RecursionError):
        raise InputError(f"{path}: not readable") from None
