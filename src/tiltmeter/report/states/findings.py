"""What was found inside each model, in a sentence or two that a newcomer understands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from tiltmeter.report.prose import interval, interval_title, number, p_value
from tiltmeter.report.states.associations import COMPARABLE, at_the_end, titled
from tiltmeter.report.states.directions import cut_name
from tiltmeter.report.states.relations import strongest
from tiltmeter.report.states.results import (
    ALPHA,
    MEAN,
    Representation,
    at_one_layer,
    first_reading,
    in_words,
    layer_name,
    layers,
    pairs,
    split,
)

__all__ = ["findings"]

#: Up to this many tests each is named; of more, as many of the largest.
MOST_NAMED = 3

Finding = tuple[str, str, str]


def findings(inside: Representation) -> list[Finding]:
    """Say what was found.

    Result: what it is about, model, text; the models of a kind one after the other.
    """
    rows: list[Finding] = []
    for model, part in inside.of_models("differences"):
        for (words,), mine in part.filter(space="broad").group_by("words", maintain_order=True):
            rows.append((f"Profile of {words}", model, _profile(mine)))
    for model, part in inside.of_models("associations"):
        for (study,), mine in part.filter(pl.col("layer") != MEAN).group_by(
            "study", maintain_order=True
        ):
            rows.append((f"Association tests of {study}", model, _associations(mine)))
    for model, part in inside.of_models("relations"):
        rows.append(("Answers and representation", model, _relation(part)))
    for model, part in inside.of_models("directions"):
        rows.append(("Accuracy of the directions", model, _directions(part)))
    return [one for one in rows if one[2]]


def _profile(part: pl.DataFrame) -> str:
    """Say on which dimensions groups differ, where the mean hides signs, and under other ways."""
    every = at_one_layer(part)
    own = first_reading(every) if not every.is_empty() else every
    known = list(own.drop_nulls("estimate").iter_rows(named=True))
    if not known:
        return "No difference could be measured; see the notes."
    sure = [row for row in known if row["p_holm"] is not None and row["p_holm"] < ALPHA]
    unsure = [row for row in known if row not in sure]
    title = interval_title(own)
    parts = [_higher(row, title) for row in sure]
    if len(unsure) > MOST_NAMED:
        rest = f"the other {len(unsure)}" if sure else f"all {len(unsure)}"
        parts.append(f"No difference is shown in {rest} comparisons.")
    elif unsure:
        differences = "; ".join(f"{_compared(row)} {_bracketed(row)}" for row in unsure)
        parts.append(f"No difference is shown for {differences}.")
    chance = [row for row in sure if (row["p_permutation"] or 0) > ALPHA]
    if chance:
        where = "; ".join(_compared(row) for row in chance)
        parts.append(f"With the groups of words shuffled p is above .05 for {where}.")
    return " ".join([*parts, *_hidden(first_reading(part)), *_turned(every, own)])


def _higher(row: Mapping[str, Any], title: str) -> str:
    first, second = row["first"], row["second"]
    value, low, high = abs(row["estimate"]), row["ci_low"], row["ci_high"]
    if row["estimate"] < 0:
        first, second = second, first
        low, high = (None, None) if None in (low, high) else (-high, -low)
    ends = "" if None in (low, high) else f"{title} {interval(low, high)}; "
    return (
        f"{row['dimension']}: {first} {number(value)} standard deviations above {second} ({ends}p "
        f"(Holm) {p_value(row['p_holm'])})."
    )


def _compared(row: Mapping[str, Any]) -> str:
    return f"{row['dimension']}, {pairs(row)}"


def _bracketed(row: Mapping[str, Any]) -> str:
    shown = number(row["estimate"])
    known = row["ci_low"] is not None and row["ci_high"] is not None
    return f"{shown} [{interval(row['ci_low'], row['ci_high'])}]" if known else shown


def _hidden(part: pl.DataFrame) -> list[str]:
    """Name the dimensions on which layers differ clearly in opposite directions."""
    sure = part.filter(pl.col("layer") != MEAN, pl.col("p_holm") < ALPHA)
    both = []
    for _, mine in split(sure, "first", "second", "dimension"):
        low, high = (
            mine.sort("estimate", descending=down).row(0, named=True) for down in (False, True)
        )
        if low["estimate"] < 0 < high["estimate"]:
            both.append(
                f"{_compared(low)}: {number(low['estimate'])} at {layer_name(low['layer'])}, "
                f"{number(high['estimate'])} at {layer_name(high['layer'])}"
            )
    examples = "; ".join(both[:MOST_NAMED])
    return (
        [f"Layers lean in opposite directions, which the mean hides ({examples})."] if both else []
    )


def _turned(every: pl.DataFrame, own: pl.DataFrame) -> list[str]:
    """Say whether other contexts, or removed components, turn a sign."""
    keys = ["dimension", "first", "second"]
    usual = own.select(*keys, usual=pl.col("estimate").sign())
    others = every.join(own, on=[*keys, "contexts", "removed"], how="anti", nulls_equal=True)
    compared = others.drop_nulls("estimate").join(usual, on=keys)
    if compared.is_empty():
        return []
    turned = compared.filter(pl.col("estimate").sign() != pl.col("usual"))
    if turned.is_empty():
        return ["Other contexts or removed components turn no sign."]
    ways = dict.fromkeys(
        f"{row['dimension']}: {in_words('contexts', row['contexts'])}, "
        f"{in_words('removed', row['removed'])}"
        for row in turned.iter_rows(named=True)
    )
    return [f"Signs turn with how the model is read ({'; '.join(list(ways)[:MOST_NAMED])})."]


def _associations(part: pl.DataFrame) -> str:
    """Say how many tests lean the stereotypical way at the last layer, and how strongly."""
    texts = []
    for method, own in split(part.filter(pl.col("measure").is_in(COMPARABLE)), "measure"):
        mine = first_reading(own)
        last = at_the_end(mine).drop_nulls("estimate")
        texts.append((f"{method}: " if method else "") + _tests(last, mine))
    return " ".join(texts)


def _tests(last: pl.DataFrame, part: pl.DataFrame) -> str:
    where = f"At the last layer ({layers(part)[-1]})"
    if last.is_empty():
        return f"{where} no effect could be measured; see the notes."
    sure = last.filter(pl.col("p_holm") < ALPHA)
    against = last.filter(pl.col("estimate") < 0).height
    lean = "leans" if sure.height == 1 else "lean"
    noun = "association" if last.height == 1 else "associations"
    most = last.sort(pl.col("estimate").abs(), descending=True).head(MOST_NAMED)
    named = ", ".join(
        f"{titled(row['stereotype'])} {number(row['estimate'])}"
        + ("" if row["ci_low"] is None else f" [{interval(row['ci_low'], row['ci_high'])}]")
        for row in most.iter_rows(named=True)
    )
    lead = "Effects" if last.height <= MOST_NAMED else "Largest effects"
    point = "points" if against == 1 else "point"
    rest = f"; {against} {point} the other way" if against else ""
    return (
        f"{where} {sure.height} of {last.height} {noun} {lean} the expected (stereotypical) way by "
        f"more than chance explains (p (Holm) below .05){rest}. {lead}, on a scale from −2 to 2 "
        f"where 0 is neutral: {named}."
    )


def _relation(part: pl.DataFrame) -> str:
    """Say where answers and states agree most, and how much missing answers matter."""
    known = part.filter(pl.col("layer").is_not_null() & (pl.col("layer") != MEAN))
    level = "stereotype" if "stereotype" in known["level"] else "trial"
    own = known.filter(pl.col("removed") == pl.col("removed").min(), level=level).drop_nulls(
        "estimate"
    )
    if own.is_empty():
        return ""
    _, first = split(own, "missing_as")[0]
    top, last = strongest(first), first.filter(layer=layers(first)[-1]).row(0, named=True)
    if top is None:
        return ""
    ends = "" if top["ci_low"] is None else f", {interval(top['ci_low'], top['ci_high'])}"
    text = (
        f"What the model says and what stands inside go together most at {layer_name(top['layer'])}"
        f" (r {number(top['estimate'])}{ends}; p (Holm) {p_value(top['p_holm'])}; "
        f"{in_words('missing_as', top['missing_as'])})"
        f"{_last(last) if top['layer'] != last['layer'] else ''}."
    )
    same = own.filter(layer=top["layer"])
    if same.height > 1:
        values = ", ".join(
            f"{in_words('missing_as', row['missing_as'])} {number(row['estimate'])}"
            for row in same.iter_rows(named=True)
        )
        text += (
            f" At {layer_name(top['layer'])} r moves with what missing answers count as: {values}."
        )
    return text


def _last(row: Mapping[str, Any]) -> str:
    return f"; at the last layer, {row['layer']}, r is {number(row['estimate'])}"


def _directions(part: pl.DataFrame) -> str:
    """Say how well the directions place terms, beside the majority."""
    own = at_one_layer(part).filter(dimension="all")
    if own.is_empty():
        return ""
    own = first_reading(own)
    own = own.filter(space=own["space"][0]).drop_nulls("estimate")
    shares = [
        f"{number(row['estimate'], 3)} {cut_name(row['cut'])}{_against(row)}"
        for row in own.iter_rows(named=True)
    ]
    if not shares:
        return ""
    row = own.row(0, named=True)
    return (
        f"Share of {row['n'] or 0:,} terms on the side where the dictionary has them, "
        f"{layer_name(row['layer'])}: {'; '.join(shares)}. Always naming the more frequent side "
        f"gives {number(row['neutral'], 3)}."
    )


def _against(row: Mapping[str, Any]) -> str:
    low, high, majority = row["ci_low"], row["ci_high"], row["neutral"]
    if None in (low, high, majority):
        return ""
    if low > majority:
        return " (better than the majority)"
    return " (worse than the majority)" if high < majority else " (not told from the majority)"
