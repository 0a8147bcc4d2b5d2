"""Let a model write the contexts of a dictionary's senses, and keep those that pass the checks.

Wording and checks are those of `reading.contexts`. A call asks for all sentences that a sense
still lacks, and each sense has a few calls. Answers are kept as they come, beside the file of
contexts: the same command again asks nothing twice, and what passes is worked out anew from the
answers, so that an interrupted run ends as an uninterrupted one would.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from tiltmeter.asking.budget import CHARACTERS_PER_TOKEN, TOKENS_PER_PROMPT, Budget, Cost, price
from tiltmeter.asking.context_record import claim_contexts, identify_contexts, write_record
from tiltmeter.asking.context_session import ContextSession, OnProgress, Sense
from tiltmeter.asking.journal import Journal
from tiltmeter.asking.sessions import only_process
from tiltmeter.errors import InputError
from tiltmeter.models.opening import Connection, Generation, open_model
from tiltmeter.networks.wordnet import in_wordnet
from tiltmeter.reading.contexts import REASONS, Checks, context_messages
from tiltmeter.results.states import CONTEXTS
from tiltmeter.states.examples import write_examples
from tiltmeter.states.words import read_words

__all__ = ["Asking", "Written", "expected_cost", "make_contexts"]

#: A sentence of about 20 words and its number.
TOKENS_PER_SENTENCE = 30

#: Senses that the record names.
NAMED = 100


@dataclass(frozen=True)
class Asking:
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
    """

    per_sense: int = 5
    rounds: int = 3
    seed: int = 0
    generation: Generation = field(default_factory=Generation)
    connection: Connection = field(default_factory=Connection)

    def __post_init__(self) -> None:
        """Refuse numbers that ask for nothing."""
        for name in ("per_sense", "rounds"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} {getattr(self, name)}: at least 1")


@dataclass(frozen=True)
class Written:
    """How far asking came."""

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
    asking: Asking | None = None,
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
    asking
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
    asking, budget = asking or Asking(), budget or Budget()
    senses = senses.unique("key", keep="first", maintain_order=True)
    opened = open_model(model, asking.generation, asking.connection)
    record = claim_contexts(out, identify_contexts(model, senses, asking.generation, asking.seed))
    kept = out.with_name(f"{out.name}.answers")
    kept.mkdir(exist_ok=True)
    with only_process(kept):
        asked = _listed(senses, asking)
        journal, checks = Journal(kept, model), _checks()
        spent = _replay(journal, asked, checks, budget)
        on_progress(model, {"trials": sum(len(s.sentences) for s in asked), "calls": 0})
        session = ContextSession(opened, asked, checks, journal, budget, on_progress)
        session.seed = asking.seed
        try:
            asyncio.run(session.run())
        except KeyboardInterrupt:
            session.stopped_by = "interrupted"
        written = _outcome(session)
        write_record(out, {**record, **_counts(session, written, spent)})
        if session.fatal is not None:
            raise session.fatal
        if written.finished:
            write_examples(_contexts(asked), senses, out, model)
    return written


def expected_cost(
    model: str, senses: pl.DataFrame, asking: Asking, prices: Path | None = None
) -> Cost:
    """Estimate calls, tokens and dollars of one round.

    Parameters
    ----------
    model
        As inspect names it.
    senses
        As of `make_contexts`.
    asking
        How many sentences are asked for.
    prices
        See `budget.price`.

    Returns
    -------
    Cost
        Its trials are sentences.
    """
    asked = _listed(senses.unique("key"), asking)
    prompts = (context_messages(s.term, s.definition, asking.per_sense) for s in asked)
    said = sum(len(message.text) for prompt in prompts for message in prompt)
    tokens_in = math.ceil(said / CHARACTERS_PER_TOKEN + TOKENS_PER_PROMPT * len(asked))
    sentences = len(asked) * asking.per_sense
    tokens_out = sentences * TOKENS_PER_SENTENCE
    rates = price(model, prices)
    usd = None if rates is None else (tokens_in * rates[0] + tokens_out * rates[1]) / 1e6
    return Cost(model, sentences, len(asked), tokens_in, tokens_out, usd)


def _listed(senses: pl.DataFrame, asking: Asking) -> list[Sense]:
    return [
        Sense(key, term, definition, asking.per_sense, asking.rounds)
        for key, term, definition in senses.select("key", "term", "definition").iter_rows()
    ]


def _checks() -> Checks:
    """Know the most frequent given names, and what words there are."""
    return Checks(frozenset(read_words("names").compared), lambda word: bool(in_wordnet([word])))


def _replay(
    journal: Journal, senses: Sequence[Sense], checks: Checks, budget: Budget
) -> Counter[str]:
    """Take what was answered before; what it cost counts against the budget."""
    by_key = {sense.key: sense for sense in senses}
    spent: Counter[str] = Counter()
    for answer in journal:
        budget.calls += 1
        budget.spend(answer, None)
        spent["calls"] += 1
        for name in ("input_tokens", "output_tokens"):
            spent[name] += answer.get(name) or 0
        sense = by_key.get(answer.get("key", ""))
        if sense is not None and isinstance(text := answer.get("response"), str):
            sense.take(text, checks)
    return spent


def _outcome(session: ContextSession) -> Written:
    senses = session.senses
    rejected = sum((sense.rejected for sense in senses), Counter[str]())
    finished = not any(sense.open for sense in senses)
    return Written(
        senses=len(senses),
        sentences=sum(len(sense.sentences) for sense in senses),
        incomplete=tuple(sense.key for sense in senses if sense.lacks),
        rejected={reason: rejected[reason] for reason in REASONS if rejected[reason]},
        calls=session.calls,
        errors=session.errors,
        last_error=session.last_error,
        stopped_by=None if finished else session.stopped_by,
        finished=finished,
    )


def _contexts(senses: Sequence[Sense]) -> pl.DataFrame:
    rows = [(sense.key, sense.term, text) for sense in senses for text in sense.sentences]
    return pl.DataFrame(rows, schema=CONTEXTS, orient="row")


def _counts(session: ContextSession, written: Written, spent: Counter[str]) -> dict[str, Any]:
    """Say for the record what came of it."""
    totals = spent + session.spent
    return {
        "senses": written.senses,
        "sentences": written.sentences,
        "rejected": dict(written.rejected),
        "incomplete": len(written.incomplete),
        "incomplete_senses": list(written.incomplete[:NAMED]),
        "finished": written.finished,
        **{name: totals[name] for name in ("calls", "input_tokens", "output_tokens")},
    }
