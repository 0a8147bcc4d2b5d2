"""Columns of conditions in tables of others: a persona, a style or a language that was asked under.

Such a column has a name of its own. Means over it would pool what was asked differently, so means
are taken of each of its values, which become those of `intervention`, and this is said first. A
column that is not known is one where the user names it, or where

- its values differ among answers that are alike in everything known, are not read of the answers,
  and do not only tell the rows apart in which an answer stands; and
- it has at most 10 values with at least 5 answers each, that are neither numbers nor marks such as
  yes: these are as often labels, seeds or runs; or it alone tells draws with the same number apart.

Any other column of 2 to 10 values is pooled, and named.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

import polars as pl

from clinometer.errors import ClinometerWarning, InputError, unknown
from clinometer.results import FACTORS, RESPONSES, SCORES
from clinometer.results.faults import PLACE
from clinometer.results.records import text_hash

#: What a user names where no column is a condition; also the value of `intervention` of no such.
NO_CONDITION = "none"

#: Values of a condition, and answers of each, that make a column one.
MOST_VALUES, FEWEST_ANSWERS = 10, 5

#: Answers of each value below which a column is not worth a word.
_FEWEST_TO_WARN = 2

#: Columns that tell apart what was asked.
_QUESTION_KEYS = (*FACTORS, "version", "object", "order", "attribute_order")

#: Columns that tell the draws of it apart, too.
_DRAW_KEYS = (*_QUESTION_KEYS, "iteration", "pair_id", "marginalized", "default")

#: Columns that show whether two rows hold one answer, the first that is there.
_ANSWERS = ("response", "decision", "shares", "score")

#: Columns that tell answers apart, whether or not they are known.
_CONTEXT = (*_DRAW_KEYS, *_ANSWERS)

#: Values that mark an answer, and name no way of asking.
_MARKS = r"(?i)^\s*(?:[-+]?[0-9.]+(?:e[-+]?[0-9]+)?|true|false|yes|no|y|n|)\s*$"

#: Letters of a value that may be read of an answer, at least.
_SHORTEST = 3

#: Letters of a value that make a name.
_LONGEST = 40


def find_conditions(
    answers: Iterable[pl.DataFrame],
    condition_columns: Sequence[str] = (),
    used_columns: Callable[[pl.DataFrame], Collection[str]] = lambda _: (),
) -> tuple[str, ...]:
    """Find the columns of conditions in a table, and warn of each column of a few values.

    Parameters
    ----------
    answers
        The table of answers or scores, in chunks, with the columns of Clinometer where it has them.
    condition_columns
        Columns that the user names; `NO_CONDITION` alone: there are none. Empty: see above.
    used_columns
        Of a chunk, the other columns that say something else.

    Raises
    ------
    InputError
        If a column that the user names is missing.
    """
    requested = set(condition_columns) - {NO_CONDITION}
    if ours := requested.intersection(_CONTEXT):
        raise InputError(f"--condition {min(ours)}: a column of Clinometer; name another column")
    table = _read_candidates(answers, requested, used_columns)
    conditions: list[str] = []
    for name in (column for column in table.columns if column not in _CONTEXT):
        differs = _differs(table, name, [*_QUESTION_KEYS, *conditions])
        is_condition = name in requested
        if not condition_columns and differs:
            is_condition = _is_condition(table, name, conditions)
        if is_condition:
            conditions.append(name)
        if is_condition or (differs and not condition_columns):
            _warn(table[name], is_condition)
    return tuple(conditions)


def _read_candidates(
    answers: Iterable[pl.DataFrame],
    requested: Collection[str],
    used_columns: Callable[[pl.DataFrame], Collection[str]],
) -> pl.DataFrame:
    """Read the columns that may be conditions, beside those that tell answers apart.

    Those are `requested`, or none of `used_columns` and of few values.
    """
    pieces = []
    # Columns of many values, and those of which not every value stands in its answer.
    full: set[str] = set()
    independent: set[str] = set()
    for piece in answers:
        if missing := set(requested).difference(piece.columns):
            columns = [name for name in piece.columns if name != PLACE]
            raise InputError(f"--condition: {unknown('column', min(missing), columns)}")
        excluded = {*_CONTEXT, *RESPONSES, *SCORES, *used_columns(piece), PLACE}
        excluded -= {"system", *requested}
        candidates = [name for name in piece.columns if name not in {*excluded, *full}]
        if not candidates or not any(name in piece.columns for name in _ANSWERS):
            return pl.DataFrame()
        texts = piece.select(
            pl.col(candidates).exclude(pl.List, pl.Struct, pl.Binary).cast(pl.String)
        )
        texts = texts.select(_condition_text(pl.all()))
        full |= {name for name in texts.columns if texts[name].n_unique() > MOST_VALUES}
        full -= set(requested)
        texts = texts.drop(full, strict=False)
        independent |= {name for name in texts.columns if not _is_of_answer(texts[name], piece)}
        context = piece.select(name for name in _CONTEXT if name in piece.columns)
        # Long texts need not be kept to be compared.
        context = context.with_columns(pl.col(name).hash() for name in _ANSWERS if name in context)
        pieces.append(context.hstack(texts))
    table = pl.concat(pieces, how="diagonal_relaxed") if pieces else pl.DataFrame()
    candidates = [name for name in table.columns if name not in {*_CONTEXT, *requested}]
    few = {name for name in candidates if table[name].n_unique() <= MOST_VALUES}
    return table.drop(set(candidates) - (few & independent - full))


def _is_of_answer(values: pl.Series, piece: pl.DataFrame) -> bool:
    """Whether every value of a column stands in its answer, or holds it: it is read of that."""
    if piece.schema.get("response") != pl.String:
        return False
    pairs = piece.select(answer=_condition_text(pl.col("response"))).with_columns(value=values)
    stands = pl.col("answer").str.contains(pl.col("value"), literal=True)
    holds = pl.col("value").str.contains(pl.col("answer"), literal=True)
    # A letter stands in many texts.
    is_word = pl.col("value").str.len_chars() >= _SHORTEST
    return bool(pairs.select(((stands & is_word) | holds).all()).item())


def _condition_text(column: pl.Expr) -> pl.Expr:
    """Return the values of a column in one line; an empty one is no condition."""
    lines = column.str.replace_all(r"\s+", " ").str.strip_chars()
    return lines.replace("", None).fill_null(NO_CONDITION)


def _differs(table: pl.DataFrame, name: str, factors: Sequence[str]) -> bool:
    """Whether the values of a column differ among answers that are alike in other columns."""
    alike = [factor for factor in factors if factor in table.columns]
    if not alike:
        return table[name].n_unique() > 1
    return bool((table.group_by(alike).agg(pl.col(name).n_unique())[name] > 1).any())


def _is_condition(table: pl.DataFrame, name: str, conditions: Sequence[str]) -> bool:
    """Whether the values of a column are taken for conditions, after others."""
    draw = [column for column in (*_DRAW_KEYS, *conditions) if column in table.columns]
    answers = [column for column in _ANSWERS if column in table.columns]
    repeated = table.filter(table.select(draw).is_duplicated())
    if "iteration" in draw and answers and not repeated.is_empty():
        n_answers = repeated.group_by(draw).agg(n=pl.col(answers[0]).n_unique())["n"]
        # An answer in several rows, a word in each, was asked once.
        if n_answers.max() == 1:
            return False
        if not table.select(*draw, name).is_duplicated().any():
            return True
    counts = table[name].value_counts(name="n")
    marks = counts.filter(pl.col(name) != NO_CONDITION)[name].str.contains(_MARKS)
    return not marks.all() and min(counts["n"].to_list()) >= FEWEST_ANSWERS


def _warn(values: pl.Series, is_condition: bool) -> None:
    """Say of a column how many values it has, and whether means are taken of each."""
    counts = values.value_counts(sort=True, name="n")
    if not is_condition and min(counts["n"].to_list()) < _FEWEST_TO_WARN:
        return
    texts = [f"{_short(value, 20)} {n:,}" for value, n in counts.head(MOST_VALUES).iter_rows()]
    more = ", …" if counts.height > MOST_VALUES else ""
    n_values = f"{counts.height} value{'' if counts.height == 1 else 's'}"
    text = f"column {values.name} has {n_values} ({', '.join(texts)}{more})"
    if is_condition:
        text = f"{text}: means are taken of each; --condition {NO_CONDITION} pools them"
    else:
        text = f"{text}, which are pooled; --condition {values.name} takes means of each"
    warnings.warn(text, ClinometerWarning, stacklevel=3)


def with_conditions(answers: pl.DataFrame, conditions: Sequence[str]) -> pl.DataFrame:
    """Give answers the conditions that they were asked under as `intervention`.

    Of several columns, a name says the value of each.
    """
    if not conditions:
        return answers
    columns = list(conditions)
    if "intervention" in answers.columns and "intervention" not in columns:
        columns.insert(0, "intervention")
    texts = answers.select(_condition_text(pl.col(columns).cast(pl.String)))
    values = texts.unique()
    names = [_name_condition(row) for row in values.iter_rows(named=True)]
    condition_names = values.with_columns(pl.Series("name of condition", names, pl.String))
    matched = texts.join(condition_names, on=columns, how="left", maintain_order="left")
    return answers.with_columns(intervention=matched["name of condition"])


def _name_condition(values: Mapping[str, str]) -> str:
    """Name a condition by its values: that of a column alone, or those of several by column."""
    if all(value == NO_CONDITION for value in values.values()):
        return NO_CONDITION
    conditions = dict(values)
    if conditions.get("intervention") == NO_CONDITION:
        del conditions["intervention"]
    if len(conditions) == 1:
        return _short(next(iter(conditions.values())), _LONGEST)
    return ", ".join(f"{name}={_short(value, _LONGEST)}" for name, value in conditions.items())


def _short(value: str, most: int) -> str:
    """Return a value, or the beginning of a long one with what tells it from others."""
    return value if len(value) <= most else f"{value[:most]}… {text_hash(value)[:4]}"
