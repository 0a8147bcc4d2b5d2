"""Asks a model for example sentences of a dictionary's senses; keeps those that pass the checks.

Wording and checks are those of `reading.contexts`. A call asks for all sentences that a sense
lacks; the number of calls per sense is limited. Answers are kept in a journal beside the file of
contexts. A repeated command reads the journal first, so that an interrupted run ends with the
same file as an uninterrupted one.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from clinometer.asking.budget import CHARACTERS_PER_TOKEN, TOKENS_PER_PROMPT, Budget, Cost, Ledger
from clinometer.asking.claim import Claimant, claim, short_hash
from clinometer.asking.generating import Line, OnProgress, Prompt, Session, ask_all, draw_seed
from clinometer.asking.questions import CallQuestions
from clinometer.asking.shards import Answers, collect, has_shards, write_setting, write_shards
from clinometer.errors import InputError
from clinometer.models.opening import Connection, Generation, open_model
from clinometer.models.outputs import tokens_in
from clinometer.reading.cleaning import final_answer
from clinometer.results.locks import only_process
from clinometer.results.records import Journal, plan_key, write_plan
from clinometer.texts import encodable
from clinometer.words.wordnet import in_wordnet
from clinometer_measures.states.context_reading import (
    REASONS,
    Checks,
    context_messages,
    read_contexts,
    wording,
)
from clinometer_measures.states.examples import write_examples
from clinometer_measures.states.tables import CONTEXTS
from clinometer_measures.states.words import read_words

if TYPE_CHECKING:
    from inspect_ai.model import ModelOutput

__all__ = [
    "ContextOptions",
    "Written",
    "cost_of_contexts",
    "make_contexts",
    "shard_contexts",
]

#: A sentence of about 20 words and its number.
TOKENS_PER_SENTENCE = 30

#: Senses that the record names.
MOST_SENSES = 100

#: Errors with no answer before them, and errors in a row, after which a model is given up.
PATIENCE = (1, 20)


@dataclass(frozen=True)
class ContextOptions:
    """How sentences are asked for.

    Parameters
    ----------
    per_sense
        Sentences that each sense shall have.
    rounds
        Calls that a sense may take.
    seed
        For models on one's own machine; others take none.
    generation
        How answers are sampled.
    connection
        How the model is reached; no part of the record.
    from_elsewhere
        As of `Asking`; no part of the record.
    """

    per_sense: int = 5
    rounds: int = 3
    seed: int = 0
    generation: Generation = field(default_factory=Generation)
    connection: Connection = field(default_factory=Connection)
    from_elsewhere: bool = False

    def __post_init__(self) -> None:
        """Refuse numbers that ask for nothing."""
        for name in ("per_sense", "rounds"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} {getattr(self, name)}: at least 1")


@dataclass(frozen=True)
class Written:
    """How many sentences there are, and what stopped the run."""

    senses: int
    sentences: int
    incomplete: tuple[str, ...]
    """Keys of the senses that have fewer sentences than they shall have."""
    rejected: Mapping[str, int]
    """Sentences that were not taken, by reason."""
    calls: int
    """Of this time, without those of earlier ones; so are the errors."""
    errors: int
    last_error: str | None = None
    stopped_by: str | None = None
    """The limit that ended the run early, or ``"interrupted"``."""
    finished: bool = True
    """Whether every sense has its sentences, or has had all its calls."""


def make_contexts(
    model: str,
    senses: pl.DataFrame,
    out: Path,
    *,
    options: ContextOptions | None = None,
    budget: Budget | None = None,
    on_progress: OnProgress = lambda model, answer: None,
) -> Written:
    """Ask a model for the sentences that are not there yet.

    Parameters
    ----------
    model
        As inspect names it.
    senses
        Columns `key`, `term`, `synset` and `definition`, as of a dictionary; a definition is part
        of the prompt.
    out
        The ``.jsonl`` file of contexts, which `read_examples` reads; written once all senses
        have had their calls. Answers are kept in the folder OUT.answers, and what was asked and
        what was not taken stands in OUT.record.json.
    options
        How sentences are asked for; more of them, or more rounds, may be asked for later.
    budget
        Limits in calls and tokens; what is recorded is added to it first.
    on_progress
        Called per call with the model and a dictionary: `trials` (sentences), `calls`, perhaps
        `error`. First with what was there before.

    Returns
    -------
    Written

    Raises
    ------
    ModelError
        If the model cannot be opened, or its first call or many in a row fail.
    PlanError
        If `out` belongs to another plan, or another process is asking for it.
    InputError
        If `out` has another ending or cannot be written.
    """
    options = options or ContextOptions()
    budget = budget or Budget()
    opened = open_model(model, options.generation, options.connection)
    plan = _Plan(model, senses, options)
    with _hold_contexts(plan, out, budget) as (strategy, ledger, count_sentences):
        on_progress(model, {"trials": strategy.sentences, "calls": 0})
        ask_all([Session(opened, strategy, ledger, on_progress)])
    return count_sentences()


def shard_contexts(
    model: str,
    senses: pl.DataFrame,
    out: Path,
    shards: int,
    *,
    options: ContextOptions | None = None,
) -> tuple[Written, list[Path]]:
    """Read what is answered of the shards of contexts, if there are any, and write what is left.

    Parameters
    ----------
    model, senses, out, options
        As of `make_contexts`.
    shards
        How many files there are, at most. They stand in the folder OUT.answers (see `shards`).

    Returns
    -------
    tuple of Written, list of Path
        What there is, and the files that are to be asked.

    Raises
    ------
    PlanError, InputError
        As of `make_contexts`.
    """
    options = options or ContextOptions()
    plan = _Plan(model, senses, options)
    with _hold_contexts(plan, out, Budget()) as (strategy, ledger, count_sentences):
        folder = _answers_folder(out)
        questions = CallQuestions(strategy, ledger, options.generation, strategy.progress)
        if has_shards(folder):
            (collection,), _ = collect(folder, [questions])
            files = collection.files
        else:
            write_setting(folder, {"shards": shards})
            files = write_shards(folder, questions.unanswered(Answers()), shards)
    return count_sentences(), files


def _answers_folder(out: Path) -> Path:
    """Return where the answers behind a file of contexts are kept."""
    return out.with_name(f"{out.name}.answers")


@contextmanager
def _hold_contexts(
    plan: _Plan, out: Path, budget: Budget
) -> Iterator[tuple[_Senses, Ledger, Callable[[], Written]]]:
    """Hold a file of contexts while its sentences are asked for.

    Gives the senses with their earlier sentences, the ledger, and a function that counts what there
    is. Afterwards the record is written, and the file itself if all senses have had their calls.
    """
    if out.suffix != ".jsonl":
        raise InputError(f"out {str(out)!r}: the file of contexts must end in .jsonl")
    record = claim(out, plan, from_elsewhere=plan.options.from_elsewhere)
    folder = _answers_folder(out)
    folder.mkdir(exist_ok=True)
    with only_process(folder):
        ledger = Ledger(Journal(folder, plan.model), budget, patience=PATIENCE)
        strategy = _Senses(plan.senses, plan.options)
        for line in ledger.journal.lines():
            ledger.replay(line)
            ledger.answers += strategy.recall(line)
        count_sentences = partial(_count_sentences, strategy.senses, ledger)
        yield strategy, ledger, count_sentences
        outcome = count_sentences()
        # Before a fatal error is raised: the record tells of the calls that were made.
        path = plan.file(out)
        counts = _record_counts(outcome, ledger.journal)
        write_plan(path, {**record, **counts}, plan_key(path))
        if ledger.fatal is not None:
            raise ledger.fatal
        if outcome.finished:
            write_examples(_contexts(strategy.senses), plan.senses, out, plan.model)


def _contexts(senses: Sequence[_Sense]) -> pl.DataFrame:
    """Set out the accepted sentences: columns CONTEXTS."""
    rows = []
    for sense in senses:
        rows += [(sense.key, sense.term, text) for text in sense.sentences]
    return pl.DataFrame(rows, schema=CONTEXTS, orient="row")


def cost_of_contexts(
    model: str, senses: pl.DataFrame, options: ContextOptions, prices: Path | None = None
) -> Cost:
    """Estimate calls, tokens and dollars of one round; its trials are sentences.

    `senses` as of `make_contexts`, `prices` as of `budget.price`.
    """
    terms = senses.unique("key").select("term", "definition").rows()
    characters = 0
    for term, definition in terms:
        messages = context_messages(term, definition, options.per_sense)
        characters += sum(len(message["content"]) for message in messages)
    input_tokens = math.ceil(characters / CHARACTERS_PER_TOKEN + TOKENS_PER_PROMPT * len(terms))
    sentences = len(terms) * options.per_sense
    output_tokens = sentences * TOKENS_PER_SENTENCE
    return Cost.from_tokens(model, (sentences, len(terms)), (input_tokens, output_tokens), prices)


@dataclass(frozen=True)
class _Plan(Claimant):
    """The plan of a file of contexts; sentences and rounds may grow."""

    model: str
    senses: pl.DataFrame
    options: ContextOptions

    def __post_init__(self) -> None:
        """Take each sense once."""
        senses = self.senses.unique("key", keep="first", maintain_order=True)
        object.__setattr__(self, "senses", senses)

    def file(self, out: Path) -> Path:
        """Return the path of the record."""
        return out.with_name(f"{out.name}.record.json")

    def identity(self) -> dict[str, Any]:
        """Return what tells this plan from another, for the record."""
        senses = self.senses.select("key", "term", "definition").rows()
        return {
            "model": self.model,
            "prompt_hash": short_hash(wording()),
            "senses_hash": short_hash(json.dumps(senses)),
            "seed": self.options.seed,
            **asdict(self.options.generation),
        }


@dataclass
class _Sense:
    """A sense, its accepted sentences and the calls made for it."""

    key: str
    term: str
    definition: str | None
    target: int
    """Sentences that it shall have."""
    rounds: int
    """Calls it may take."""
    answers: int = 0
    sentences: list[str] = field(default_factory=list)
    rejected: Counter[str] = field(default_factory=Counter)

    @property
    def lacks(self) -> int:
        """How many sentences are missing."""
        return self.target - len(self.sentences)

    @property
    def open(self) -> bool:
        """Whether it is to be asked about again."""
        return self.lacks > 0 and self.answers < self.rounds

    def take(self, answer: str, checks: Checks) -> int:
        """Take the sentences of an answer that pass; return how many were missing and came."""
        self.answers += 1
        reading = read_contexts(final_answer(answer).text, self.term, checks, self.sentences)
        # An answer may have more sentences than are missing.
        new_sentences = reading.sentences[: max(self.lacks, 0)]
        self.sentences += new_sentences
        self.rejected += reading.rejected
        return len(new_sentences)


class _Senses:
    """Strategy: each pass asks once about every open sense; failed calls get another pass."""

    def __init__(self, senses: pl.DataFrame, options: ContextOptions) -> None:
        self.options = options
        self.senses: list[_Sense] = []
        for key, term, definition in senses.select("key", "term", "definition").iter_rows():
            self.senses.append(_Sense(key, term, definition, options.per_sense, options.rounds))
        self._by_key = {sense.key: sense for sense in self.senses}
        # The most frequent given names, and what words there are.
        names = frozenset(read_words("names").compared)
        self._checks = Checks(names, lambda word: bool(in_wordnet([word])))

    @property
    def sentences(self) -> int:
        """How many sentences there are."""
        return sum(len(sense.sentences) for sense in self.senses)

    def progress(self) -> tuple[int, int]:
        """Return how many sentences there are in the end, and how many there are."""
        return sum(sense.target for sense in self.senses), self.sentences

    def recall(self, line: Line) -> bool:
        """Take what was answered earlier; False where it is no answer about one of the senses."""
        sense = self._by_key.get(line.get("key", ""))
        text = line.get("response")
        if sense is None or not isinstance(text, str):
            return False
        sense.take(text, self._checks)
        return True

    def passes(self) -> Iterator[Callable[[], _Sense | None]]:
        """Yield what gives the open senses, one at a call, and None after the last."""
        for _ in range(self.options.rounds):
            # Those that are open when the pass begins.
            open_senses = iter([sense for sense in self.senses if sense.open])
            yield partial(next, open_senses, None)

    def name(self, sense: _Sense) -> tuple[str, str]:
        """Name a call: the sense, and how many answers came before."""
        return sense.key, str(sense.answers)

    def prompts(self, sense: _Sense) -> Iterator[Prompt]:
        """Yield the one prompt of a call."""
        messages = context_messages(sense.term, sense.definition, sense.lacks, sense.sentences)
        yield messages, {"seed": draw_seed(self.options.seed, sense.key, sense.answers)}

    def answers(self, sense: _Sense, prompt: Prompt, output: ModelOutput) -> list[Line]:
        """Make the line of the journal for an answer."""
        usage = output.usage
        return [
            {
                "key": sense.key,
                "response": encodable(output.completion),
                "stop_reason": output.stop_reason if output.choices else None,
                "input_tokens": tokens_in(usage) if usage else None,
                "output_tokens": usage.output_tokens if usage else None,
            }
        ]

    def failures(self, sense: _Sense, error: str) -> list[Line]:
        """Make the line of the journal for a call that failed."""
        return [{"key": sense.key, "error": error}]

    def take(self, sense: _Sense, lines: Sequence[Line]) -> int:
        """Take the sentences of a call's line; return how many were missing and came."""
        (line,) = lines
        return 0 if "error" in line else sense.take(line["response"], self._checks)


def _count_sentences(senses: Sequence[_Sense], ledger: Ledger) -> Written:
    """Count sentences, calls and errors so far."""
    rejected = sum((sense.rejected for sense in senses), Counter[str]())
    finished = not any(sense.open for sense in senses)
    return Written(
        senses=len(senses),
        sentences=sum(len(sense.sentences) for sense in senses),
        incomplete=tuple(sense.key for sense in senses if sense.lacks),
        rejected={reason: rejected[reason] for reason in REASONS if rejected[reason]},
        calls=ledger.calls,
        errors=ledger.errors,
        last_error=ledger.last_error,
        stopped_by=None if finished else ledger.stopped_by,
        finished=finished,
    )


def _record_counts(outcome: Written, journal: Journal) -> dict[str, Any]:
    """Return the outcome, and calls and tokens of all sessions, for the record."""
    totals = dict.fromkeys(("calls", "input_tokens", "output_tokens"), 0)
    for line in journal.lines():
        for name in totals:
            totals[name] += line.get(name) or 0
    return {
        "senses": outcome.senses,
        "sentences": outcome.sentences,
        "rejected": dict(outcome.rejected),
        "incomplete": len(outcome.incomplete),
        "incomplete_senses": list(outcome.incomplete[:MOST_SENSES]),
        "finished": outcome.finished,
        **totals,
    }
