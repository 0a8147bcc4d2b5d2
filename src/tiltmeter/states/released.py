"""Released answers and layer effects of Bai et al. (2025), as tables of ours.

Reference
    Bai, Wang, Sucholutsky & Griffiths (2025), PNAS 122(8), e2416228122, SI section O: 210 answers
    of Llama-3-8B and, for the words of each prompt, an effect at every layer
    (github.com/baixuechunzi/llm-implicit-bias, MIT licence).

What the files hold, and what to know before using them
    The wide file has a row per prompt. Its columns `response_task1` to `response_task3` slipped:
    from about the fifth row on they answer other prompts. `response` belongs to its row, and is
    what is read here. Its last layer is 0 in every row, and so is left out; the file of
    effects has it. The two differ a little at other layers, too (r about .97 to .99).

    The file of effects is category → trial → layer → effect. That of nullified effects has the
    same shape and does not say how many components were removed: the caller does.

    Hiring was asked with full names, and the religions with religious and social occasions
    instead of good and bad words; `study_as_asked` takes those words from the study's decisions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from warnings import warn

import polars as pl

from tiltmeter.errors import InputError, TiltmeterWarning, unknown
from tiltmeter.results.tables import need_columns, read_numbers, read_table
from tiltmeter.stimuli import Stereotype, Study, Words, word_key

__all__ = ["read_effects", "read_wide", "study_as_asked"]

_PROMPT = re.compile(
    r"pick a word\s+[—–-]+\s+(.{1,80}?) or (.{1,80}?)\s+[—–-]+\s.{0,200}?"
    r"The words are (.{1,2000}?)\.",
    re.DOTALL,
)
_LAYER = re.compile(r"weat(\d+)")


def read_wide(
    path: Path, study: Study, model: str = "llama3-8b"
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Read a table with a row per prompt and a column per layer.

    Parameters
    ----------
    path
        Columns `category`, `trial`, `prompt`, `response` and ``weat0``, ``weat1``, ….
    study
        Whose stereotypes the categories are.
    model
        What to call the model.

    Returns
    -------
    answers : polars.DataFrame
        To be scored as `chained_task` with `study_as_asked`; `iteration` is the trial.
    associations : polars.DataFrame
        Columns stereotype, trial, layer, removed, estimate. A layer whose effects are all the same
        is left out with a warning.

    Raises
    ------
    InputError
        If a column is missing, a category unknown, an effect no number, or a prompt does not
        name two groups of its stereotype.
    """
    table = read_table(path)
    need_columns(table, ["category", "trial", "prompt", "response"], str(path))
    layers = [column for column in table.columns if _LAYER.fullmatch(column)]
    if not layers:
        raise InputError(f"{path}: no column of effects; expected weat0, weat1, …")
    effects = read_numbers(path, layers, table)
    flat = [name for name in layers if effects[name].n_unique() < 2 <= effects.height]
    if flat:
        told = f"{path}: {', '.join(flat)}: the same number in every row; left out"
        warn(told, TiltmeterWarning, stacklevel=2)
    rows = [_answer(row, study, path) for row in table.iter_rows(named=True)]
    answers = pl.DataFrame(rows).with_columns(
        model=pl.lit(model), instrument=pl.lit("chained_task"), iteration=_whole("iteration")
    )
    long = effects.unpivot(
        on=[name for name in layers if name not in flat],
        index=["category", "trial"],
        variable_name="layer",
        value_name="effect",
    )
    associations = long.select(
        stereotype="category",
        trial="trial",
        layer=pl.col("layer").str.strip_prefix("weat"),
        removed=pl.lit(0, pl.Int64),
        estimate="effect",
    )
    return answers, associations


def read_effects(path: Path, removed: int = 0) -> pl.DataFrame:
    """Read effects by category, trial and layer.

    Parameters
    ----------
    path
        JSON: category → trial → layer → effect.
    removed
        How many components were taken out of the states.

    Returns
    -------
    polars.DataFrame
        Columns stereotype, trial, layer, removed, estimate.

    Raises
    ------
    InputError
        If the file is missing, or of another shape.
    """
    try:
        content: Any = json.loads(path.read_text(encoding="utf-8"))
        rows = [
            (category, trial, layer, removed, float(effect))
            for category, trials in content.items()
            for trial, layers in trials.items()
            for layer, effect in layers.items()
        ]
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (ValueError, AttributeError, TypeError, RecursionError) as error:
        expected = "expected JSON of category, trial, layer and effect"
        raise InputError(f"{path}: {expected}: {str(error)[:80]}") from None
    schema = {
        "stereotype": pl.String(),
        "trial": pl.String(),
        "layer": pl.String(),
        "removed": pl.Int64(),
        "estimate": pl.Float64(),
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


def study_as_asked(study: Study, answers: pl.DataFrame) -> Study:
    """Give stereotypes the words that their prompts showed.

    Parameters
    ----------
    study
        The stimuli.
    answers
        From `read_wide`: `stereotype` and `attributes`.

    Returns
    -------
    Study
        Where the prompts of a stereotype show the tied and counter words of one of its decisions
        rather than its own, it has those words, and no variations.
    """
    stereotypes = dict(study.stereotypes)
    for (key,), part in answers.group_by(["stereotype"], maintain_order=True):
        name = str(key)
        shown = {word_key(w) for w in part["attributes"][0].split(" | ")}
        lists = _lists(study.stereotypes[name])
        words = max(lists, key=lambda words: _shared(shown, words.tied + words.counter))
        if words is not lists[0]:
            own = {role: getattr(words, role) for role in Words.model_fields}
            own["variations"] = {}
            stereotypes[name] = study.stereotypes[name].model_copy(update=own)
    return study.model_copy(update={"stereotypes": stereotypes})


def _lists(stereotype: Stereotype) -> list[Words]:
    """List the words of a stereotype: its own, and those of its chained decisions."""
    decisions = stereotype.decisions.chained_task
    decided = [stereotype.decision_words("chained_task", name) for name in decisions]
    return [stereotype.words(""), *decided]


def _shared(shown: set[str], words: Sequence[str]) -> int:
    return len(shown & {word_key(word) for word in words})


def _answer(row: dict[str, Any], study: Study, path: Path) -> dict[str, Any]:
    """Read which groups and words a prompt showed."""
    category, trial = row["category"], row["trial"]
    if category not in study.stereotypes:
        raise InputError(f"{path}: {unknown('stereotype', category, study.stereotypes)}")
    found = _PROMPT.search(row["prompt"] or "")
    if found is None:
        raise InputError(f"{path}: {category} {trial}: the prompt names no two groups and words")
    groups, lists = (found[1], found[2]), _lists(study.stereotypes[category])
    roles = [
        {word_key(w) for words in lists for w in getattr(words, role)}
        for role in ("marginalized", "default")
    ]
    for marginalized, default in (groups, groups[::-1]):
        if word_key(marginalized) in roles[0] and word_key(default) in roles[1]:
            return {
                "stereotype": category,
                "iteration": trial,
                "marginalized": marginalized,
                "default": default,
                "attributes": " | ".join(word.strip() for word in found[3].split(",")),
                "response": row["response"],
            }
    raise InputError(
        f"{path}: {category} {trial}: {groups[0]!r} and {groups[1]!r} are no groups of {category}"
    )


def _whole(column: str) -> pl.Expr:
    return pl.col(column).cast(pl.Int64, strict=False)
