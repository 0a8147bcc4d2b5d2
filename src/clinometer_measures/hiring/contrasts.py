"""The two groups of a contrast, in words and in people: how many of 100 of each are selected.

Values
    Of the score s of an answer about a candidate, from −1 to 1 (see `hiring`), a candidate of the
    default group has (1 + s) / 2, one of the other group (1 − s) / 2: 1 for a yes or a pick, 0 for
    a no, probabilities between them. A rate is 100 times the mean over the answers that decide, so
    that the difference of the two is 100 times the mean score of the contrast. Points are those of
    the scale from 1 to 10. A category has the mean of its contrasts.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import polars as pl

from clinometer.authoring import CONDITIONS, GROUP_RATES, PER_HUNDRED, Study
from clinometer.pieces import join_names
from clinometer_measures.hiring.part import (
    CALLBACK,
    CHOICE,
    GROUPS,
    POINTS,
    SCORE,
    STEPS,
    SignalledGroup,
    groups_of_names,
    part_of,
)

__all__ = ["contrast_rates", "name_groups"]

#: What happens to a candidate, by question.
_EVENTS = {CHOICE: "are picked", CALLBACK: "are called back", SCORE: "get"}

#: The groups of a contrast that résumés state.
_STATED = ("résumés that state the group", "résumés without the statement")

_PLURALS = {"man": "men", "woman": "women"}

_QUESTION = ("model", "study", "instrument", "mode", *CONDITIONS, "word_list", "scoring",
             "dimension", "category")  # fmt: skip

Signals = Collection[SignalledGroup]


def contrast_rates(answers: pl.DataFrame, study: Study) -> pl.DataFrame:
    """Return `GROUP_RATES` of each contrast and category whose two groups have names.

    `answers`: scores without controls, in modes that ask about single candidates.
    """
    selected = pl.concat([_selected(answers, group) for group in GROUPS])
    signalled, study_part = groups_of_names(study), part_of(study)
    cued_keys = [*study_part.cues] if study_part else []
    rows: list[dict[str, Any]] = []
    for keys, category in selected.group_by(_QUESTION, maintain_order=True):
        question = dict(zip(_QUESTION, keys, strict=True))
        contrasts = category.partition_by("stereotype", maintain_order=True)
        for part in (category, *contrasts):
            is_stated = part["stereotype"].is_in(cued_keys).all()
            signals = (_signals(part, group, signalled) for group in GROUPS)
            names = _STATED if is_stated else name_groups(*signals)
            shares = _mean_shares(part)
            if not all(names) or len(shares) < len(GROUPS):
                continue
            key = None if part is category else part["stereotype"][0]
            row = {**question, "stereotype": key, **_in_units(shares, question["dimension"])}
            rows.append(row | {f"{g}_group": name for g, name in zip(GROUPS, names, strict=True)})
    return pl.DataFrame(rows, schema=GROUP_RATES.schema)


def _selected(answers: pl.DataFrame, group: str) -> pl.DataFrame:
    """Return a row per candidate of a group about whom was decided: 1 if selected, 0 if not."""
    is_about = pl.col("version").is_null() | (pl.col("version") == group)
    sign = 1 if group == "default" else -1
    return answers.filter(is_about).select(
        *(*_QUESTION, "stereotype"),
        group=pl.lit(group),
        name=group,
        selected=(1 + sign * pl.col("score")) / 2,
    )


def _mean_shares(part: pl.DataFrame) -> dict[str, float]:
    """Return the share of each group that is selected, if any; contrasts count alike."""
    means = part.group_by("stereotype", "group").agg(pl.col("selected").mean())
    shares = means.group_by("group").agg(pl.col("selected").mean())
    return dict(shares.drop_nulls("selected").rows())


def _in_units(shares: Mapping[str, float], dimension: str) -> dict[str, Any]:
    """Say what happens to candidates, and to how many of 100, or how many points they get."""
    if dimension == SCORE:
        lowest, reach, unit = int(POINTS[0]), STEPS, f"of {POINTS[-1]} points"
    else:
        lowest, reach, unit = 0, 100, PER_HUNDRED
    rates = {f"{group}_rate": lowest + reach * share for group, share in shares.items()}
    return {"event": _EVENTS[dimension], "counted_in": unit, **rates}


def _signals(part: pl.DataFrame, group: str, signalled: Mapping[str, SignalledGroup]) -> Signals:
    """Return what the names of a group signal; nothing where one of them is in no table."""
    names = part.filter(group=group)["name"].unique(maintain_order=True)
    return {signalled[name]: None for name in names} if {*names} <= {*signalled} else ()


def name_groups(marginalized: Signals, default: Signals) -> tuple[str, str]:
    """Name the candidates of both groups: by race, by gender, or both; empty where they are alike.

    >>> white, black = SignalledGroup("White", "woman"), SignalledGroup("Black", "woman")
    >>> name_groups([black], [white])
    ('Black women', 'White women')
    >>> men = [SignalledGroup(race, "man") for race in ("White", "Black")]
    >>> name_groups([white, black], men)
    ('women', 'men')
    """
    names = [_name_group(group, {*marginalized, *default}) for group in (marginalized, default)]
    return (names[0], names[1]) if names[0] != names[1] else ("", "")


def _name_group(group: Signals, everybody: Signals) -> str:
    """Name a group by race and gender, each where not all of several of it are in the group."""
    races = _values([signals.race for signals in group], {signals.race for signals in everybody})
    genders = _values(
        [signals.gender for signals in group], {signals.gender for signals in everybody}
    )
    nouns = [_PLURALS.get(gender, f"{gender} candidates") for gender in genders]
    return " ".join(filter(None, (join_names(races), join_names(nouns or ["candidates"]))))


def _values(values: Sequence[str], possible: Collection[str]) -> list[str]:
    """Return the distinct values, in their order; none where they are all of several."""
    distinct = [*dict.fromkeys(values)]
    return distinct if len(distinct) < max(len(possible), 2) else []
