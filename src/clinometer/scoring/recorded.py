"""Answers recorded elsewhere: rename columns and values, and infer missing words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from clinometer.contracts.catalogue import INSTRUMENTS, instrument
from clinometer.contracts.instrument import Instrument, Recorded
from clinometer.errors import InputError, shortened
from clinometer.modes import MODES
from clinometer.reading.mentions import LETTERS
from clinometer.reading.plaintext import normalise
from clinometer.results import RESPONSES
from clinometer.results.faults import Faults, is_added
from clinometer.stimuli import StereotypeWords, Study, word_key

#: Column names of released answers and of other tools → names here, where those are absent.
_FOREIGN_COLUMNS = {
    **dict.fromkeys(("llm", "model_name", "model_id"), "model"),
    **dict.fromkeys(("dataset", "topic"), "stereotype"),
    **dict.fromkeys(("template", "wording", "prompt_variation"), "variation"),
    **dict.fromkeys(("output", "completion", "answer", "model_response"), "response"),
    **dict.fromkeys(("input", "question"), "prompt"),
}

#: What to do without a column.
_HINTS = {
    "model": "say who answered: audit MODEL --responses …, or score --model",
    "response": "audit reads another with --column response=NAME",
}

#: Columns that are read, and must be text.
_TEXT = (
    *(name for name, kind in RESPONSES.items() if kind == pl.String),
    "decision",
    "iat",
    "group",
)
#: Columns of names; others hold what was asked and said.
_NAMES = (
    "model",
    "llm",
    "study",
    "instrument",
    "stereotype",
    "variation",
    "dimension",
    "mode",
    "order",
    "attribute_order",
    "intervention",
    "version",
    "marginalized",
    "default",
)
#: Columns with a fixed set of values, and these.
_VALUES = {
    "mode": MODES.keys(),
    "order": ("marginalized_first", "default_first"),
    "attribute_order": ("tied_first", "counter_first"),
}


def standard_table(
    responses: pl.DataFrame, name: str, study: Study, faults: Faults
) -> pl.DataFrame:
    """Return a table of responses with the columns and values of Clinometer.

    A separate decision becomes the response. `name` is the instrument of responses without one;
    `study` may have other names of columns. Rows with a value that is not allowed are set aside.
    Raises InputError if a column is missing.
    """
    # For the message: as the user has them.
    user_columns = shortened([name for name in responses.columns if not is_added(name)])
    responses = rename_columns(_as_text(responses), name, study)
    formats = _formats(responses)
    needed = {"model": None, "stereotype": None, "response": None}
    for recorded in formats.values():
        for column in recorded.values.keys() & {*responses.columns}:
            responses = responses.with_columns(pl.col(column).replace(recorded.values[column]))
        needed |= dict.fromkeys(recorded.needs(study, responses.columns))
    responses = _move_decisions(responses, formats)
    missing = [column for column in needed if column not in responses.columns]
    if missing:
        hints = "".join(f"; {_HINTS[column]}" for column in missing if column in _HINTS)
        raise InputError(
            f"responses: missing column {', '.join(missing)}; found {user_columns}{hints}"
        )
    return _check_values(responses, formats, faults)


def rename_columns(responses: pl.DataFrame, name: str, study: Study) -> pl.DataFrame:
    """Rename columns to those of Clinometer, and fill in the instrument; see `standard_table`.

    Names of the instruments come before those of the study, and these before those of other tools.
    """
    present = pl.col("instrument").replace("", None) if "instrument" in responses.columns else None
    responses = responses.with_columns(instrument=pl.coalesce(present, pl.lit(name)))
    instrument_columns = [recorded.columns for recorded in _formats(responses).values()]
    names: dict[str, str] = {}
    for new_names in (*instrument_columns, study.columns, _FOREIGN_COLUMNS):
        for old, new in new_names.items():
            if old in responses.columns and new not in {*responses.columns, *names.values()}:
                names.setdefault(old, new)
    if "decision" in responses.columns:  # it is the answer
        for old in _FOREIGN_COLUMNS:
            if names.get(old) == "response":
                del names[old]
    return responses.rename(names)


def used_columns(table: pl.DataFrame, study: Study | None = None) -> set[str]:
    """Return the names of columns that are read of recorded answers, ours and those of others.

    What an instrument is asked with is known in tables that have its answers.
    """
    names = {*RESPONSES, *_TEXT, *_FOREIGN_COLUMNS, *(study.columns if study else ())}
    is_text = table.schema.get("instrument") == pl.String  # other types are refused later
    present = {*table["instrument"].unique()} if is_text else set()
    for member in INSTRUMENTS.values():
        names |= {*member.recorded.columns, *member.recorded.columns.values()}
        if member.name in present:
            names |= {*member.recorded.asked(study)}
    return names


def _formats(responses: pl.DataFrame) -> dict[str, Recorded]:
    """Return how answers of the instruments in a table are recorded, by instrument."""
    present = set(map(instrument, responses["instrument"].unique()))
    # In the order of the catalogue, on which the first of two names of a column depends.
    return {member.name: member.recorded for member in INSTRUMENTS.values() if member in present}


def _as_text(responses: pl.DataFrame) -> pl.DataFrame:
    """Convert numbers in text columns to text, and iterations to numbers; names have no spaces.

    Spaces around the names of columns, and around names in them, are those of an export.
    """
    spaced = {name: name.strip() for name in responses.columns if name != name.strip()}
    # Not if two columns would then have one name.
    if spaced and len({*map(str.strip, responses.columns)}) == responses.width:
        responses = responses.rename(spaced)
    kinds = {**dict.fromkeys(_TEXT, pl.String()), "iteration": pl.Int64()}
    for name, kind in kinds.items():
        if (actual := responses.schema.get(name, kind)) == kind:
            continue
        try:
            responses = responses.with_columns(pl.col(name).cast(kind))
        except pl.exceptions.PolarsError:
            expected = "text" if kind == pl.String else "whole numbers"
            raise InputError(f"responses: {name} holds {actual}; expected {expected}") from None
    names = [name for name in _NAMES if responses.schema.get(name) == pl.String]
    return responses.with_columns(pl.col(names).str.strip_chars())


def _move_decisions(responses: pl.DataFrame, formats: Mapping[str, Recorded]) -> pl.DataFrame:
    """Use decision and profile as the response, if the instrument says so."""
    if "decision" not in responses.columns:
        return responses

    def column(name: str) -> pl.Expr:
        """Return a column, of nulls if the table lacks it."""
        return pl.col(name) if name in responses.columns else pl.lit(None, pl.String)

    def is_of(when: str) -> pl.Expr:
        """Whether the instrument takes its response from the decision, always or alone."""
        names = [name for name, recorded in formats.items() if recorded.decision == when]
        return pl.col("instrument").is_in(names)

    response, profile = column("response"), column("profile")
    moves = is_of("always") | (is_of("alone") & response.replace("", None).is_null())
    moves &= pl.col("decision").replace("", None).is_not_null()
    return responses.with_columns(
        response=pl.when(moves).then("decision").otherwise(response),
        # Where the response stays, it is read alone.
        profile=pl.when(moves).then(profile),
    )


#: Columns that a sentence, which names one group, has none of.
_ORDERS = ("order", "attribute_order")


def _check_values(
    responses: pl.DataFrame, formats: Mapping[str, Recorded], faults: Faults
) -> pl.DataFrame:
    """Set rows aside whose values are not allowed; refuse closed answers without their choices."""
    for name in {*_VALUES} & set(responses.columns):
        wrong = ~pl.col(name).is_in(["", *_VALUES[name]])
        responses = _set_aside(responses, wrong, name, _VALUES[name], faults)
    if "iteration" in responses.columns:
        wrong = pl.col("iteration") < 0
        responses = _set_aside(responses, wrong, "iteration", ["0 and above"], faults)
    for name, recorded in formats.items():
        for column, allowed in recorded.allowed.items():
            is_allowed = pl.col(column).is_in(allowed).fill_null(False)
            wrong = (pl.col("instrument") == name) & ~is_allowed
            # The message offers the names of the source too, which were replaced before.
            offered = (*allowed, *recorded.values.get(column, ()))
            responses = _set_aside(responses, wrong, column, offered, faults)
    _need_choices(responses, formats)
    return responses


def _need_choices(responses: pl.DataFrame, formats: Mapping[str, Recorded]) -> None:
    """Refuse closed answers without the choices that they were given."""
    closed = [mode.name for mode in MODES.values() if mode.closed]
    sentences = [mode.name for mode in MODES.values() if mode.sentences]
    for name, recorded in formats.items():
        rows = responses.filter(pl.col("instrument") == name)
        if "mode" not in rows.columns:
            continue
        choices = rows.filter(pl.col("mode").is_in(closed))
        if choices.is_empty():
            continue
        ordered = choices.filter(~pl.col("mode").is_in(sentences))
        for role in recorded.offered:
            with_role = ordered if role in _ORDERS else choices
            if role not in with_role.columns or with_role[role].replace("", None).null_count():
                raise InputError(f"responses: {role} is missing; {name} is read with it, not free")


def _set_aside(
    responses: pl.DataFrame, wrong: pl.Expr, name: str, allowed: Iterable[str], faults: Faults
) -> pl.DataFrame:
    """Set rows aside with a wrong value of a column; return the others."""
    is_wrong = responses.select(wrong.fill_null(False)).to_series()
    return faults.refuse(responses, is_wrong, name, f"allowed are {', '.join(allowed)}")


def fold_name(name: str) -> str:
    """Fold case, spaces and marks of a name: ``Template 1`` becomes ``template1``."""
    return "".join(c for c in name.casefold() if c.isalnum())


def keys_by_name(content: Mapping[str, Any]) -> dict[str, str]:
    """Map every name in recorded answers to a study's stereotypes or dimensions.

    `content`: key → stereotype or dimension. A key is its own name before any label is.
    """
    labels: dict[str, str] = {}
    aliases: dict[str, str] = {}
    for key, entry in content.items():
        if entry.label:
            labels[word_key(entry.label)] = key
        for name in getattr(entry, "also", ()):  # dimensions have no other names
            aliases[word_key(name)] = key
    return {**labels, **aliases, **{key: key for key in content}}


def _space_words(text: str) -> str:
    """Return the words of a text between single spaces, so that ``in`` matches whole words."""
    return f" {' '.join(LETTERS.findall(normalise(text)))} "


def _count_words(text: str, words: StereotypeWords) -> int:
    """Count the words of a list in a text of `_space_words`."""
    return sum(_space_words(word) in text for word in words.tied + words.counter)


def likeliest_dimension(response: str, lists: Mapping[str, StereotypeWords]) -> str:
    """Return the dimension of an answer: the one with most words in it, the first of equals."""
    text = _space_words(response)
    counts = {name: _count_words(text, words) for name, words in lists.items()}
    return max(counts, key=counts.__getitem__)


def likeliest_list(
    question: str | Sequence[str], lists: Sequence[StereotypeWords]
) -> StereotypeWords | None:
    """Return the list of which a question shows most words, the first of equals; None if of none.

    `question` is the prompt, or the words that it showed.
    """
    counts: list[int] = []
    if isinstance(question, str):
        text = _space_words(question)
        counts += [_count_words(text, words) for words in lists]
    else:
        keys = set(map(word_key, question))
        for words in lists:
            counts.append(len(keys.intersection(map(word_key, words.tied + words.counter))))
    most = max(counts)
    return lists[counts.index(most)] if most else None


def complete_trial(
    row: Mapping[str, Any],
    number: int,
    study: Study,
    words: StereotypeWords,
    instrument: Instrument,
) -> dict[str, Any]:
    """Fill in columns that a recorded answer lacks; `number` is its place in the table."""
    iteration = row.get("iteration")
    trial = {
        "study": study.name,
        "instrument": instrument.name,
        "mode": next(iter(MODES)),
        "intervention": "none",
        "variation": "recorded",
        "category": study.stereotypes[row["stereotype"]].category,
        "order": None,
        "error": None,
        **{key: value for key, value in row.items() if value not in (None, "")},
        "iteration": number if iteration is None else iteration,
        "response": row["response"],
    }
    attributes = trial.get("attributes")
    if isinstance(attributes, str):
        trial["attributes"] = attributes.split(" | ")  # text from a CSV table
    trial |= instrument.recorded.complete(trial, study, words)
    cell = [study.name, "recorded", row["stereotype"], trial["variation"], trial.get("version")]
    identity = ".".join(str(part) for part in (*cell, trial["iteration"]) if part is not None)
    trial.setdefault("trial_id", identity)
    return trial
