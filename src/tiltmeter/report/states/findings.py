"""What was found inside each model, in a sentence or two that a newcomer understands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from tiltmeter.report.families import ALPHA, bracketed
from tiltmeter.report.prose import interval, interval_title, number, p_value
from tiltmeter.report.states.associations import COMPARABLE, at_the_end, titled
from tiltmeter.report.states.layers import cut_name
from tiltmeter.report.states.relations import strongest
from tiltmeter.report.states.results import (
    ONE_LAYER,
    READING,
    States,
    at_one_layer,
    first_reading,
    in_words,
    layer_name,
    pairs,
    split,
)

__all__ = ["findings"]

#: Up to this many tests each is named; of more, as many of the largest.
MOST_NAMED = 3


def findings(states: States) -> list[tuple[str, str, str]]:
    """Say what was found.

    Result: what it is about, model, text; the models of a kind one after the other.
    """
    profiles = states.of("differences", "words", where=pl.col("space") == "broad")
    tests = states.of("associations", "study", where=ONE_LAYER)
    rows = [
        *((f"Profile of {part['words'][0]}", part, _profile(part)) for part in profiles),
        *((f"Association tests of {one['study'][0]}", one, _associations(one)) for one in tests),
        *(("Answers and hidden states", part, _relation(part)) for part in states.of("relations")),
        *(("Accuracy of the directions", part, _directions(part))
          for part in states.of("directions")),
    ]  # fmt: skip
    return [(about, part["model"][0], text) for about, part, text in rows if text]


def _profile(part: pl.DataFrame) -> str:
    """Say on which dimensions groups differ, where the mean hides signs, and under other ways."""
    every = at_one_layer(part)
    own = first_reading(every)
    known = own.drop_nulls("estimate").to_dicts()
    if not known:
        return "No difference could be measured; see the notes."
    sure = [row for row in known if row["p_holm"] is not None and row["p_holm"] < ALPHA]
    unsure = [row for row in known if row not in sure]
    parts = [_higher(row, interval_title(own)) for row in sure]
    if len(unsure) > MOST_NAMED:
        rest = f"the other {len(unsure)}" if sure else f"all {len(unsure)}"
        parts.append(f"No difference is shown in {rest} comparisons.")
    elif unsure:
        parts.append(f"No difference is shown for {'; '.join(map(_difference, unsure))}.")
    chance = [_compared(row) for row in sure if (row["p_permutation"] or 0) > ALPHA]
    if chance:
        parts.append(
            f"In the permutation test (words shuffled between groups) p is above .05 for "
            f"{'; '.join(chance)}."
        )
    return " ".join([*parts, *_hidden(first_reading(part)), *_changed(every, own)])


def _higher(row: Mapping[str, Any], title: str) -> str:
    first, second = row["first"], row["second"]
    low, high = row["ci_low"], row["ci_high"]
    if row["estimate"] < 0:
        first, second = second, first
        low, high = (None, None) if None in (low, high) else (-high, -low)
    ends = "" if None in (low, high) else f"{title} {interval(low, high)}; "
    return (
        f"{row['dimension']}: {first} {number(abs(row['estimate']))} standard deviations above "
        f"{second} ({ends}p (Holm) {p_value(row['p_holm'])})."
    )


def _compared(row: Mapping[str, Any]) -> str:
    return f"{row['dimension']}, {pairs(row)}"


def _difference(row: Mapping[str, Any]) -> str:
    return f"{_compared(row)} {bracketed(row['estimate'], row['ci_low'], row['ci_high'])}"


def _hidden(part: pl.DataFrame) -> list[str]:
    """Name the dimensions on which layers differ significantly in opposite directions."""
    sure = part.filter(ONE_LAYER, pl.col("p_holm") < ALPHA)
    both = []
    for mine in sure.partition_by("first", "second", "dimension", maintain_order=True):
        low, high = (
            mine.sort("estimate", descending=down).row(0, named=True) for down in (False, True)
        )
        if low["estimate"] < 0 < high["estimate"]:
            both.append(
                f"{_compared(low)}: {number(low['estimate'])} at {layer_name(low['layer'])}, "
                f"{number(high['estimate'])} at {layer_name(high['layer'])}"
            )
    examples = "; ".join(both[:MOST_NAMED])
    return [f"The mean hides opposite signs at single layers ({examples})."] if both else []


def _changed(every: pl.DataFrame, own: pl.DataFrame) -> list[str]:
    """Say whether other contexts, or removed components, change a sign."""
    keys = ["dimension", "first", "second"]
    usual = own.select(*keys, usual=pl.col("estimate").sign())
    others = every.join(own, on=[*keys, *READING], how="anti", nulls_equal=True)
    compared = others.drop_nulls("estimate").join(usual, on=keys)
    if compared.is_empty():
        return []
    changed = compared.filter(pl.col("estimate").sign() != pl.col("usual"))
    if changed.is_empty():
        return ["Other contexts or removed components change no sign."]
    ways = dict.fromkeys(
        f"{row['dimension']}: {', '.join(in_words(key, row[key]) for key in READING)}"
        for row in changed.iter_rows(named=True)
    )
    return [f"Signs change with how the model is read ({'; '.join(list(ways)[:MOST_NAMED])})."]


def _associations(part: pl.DataFrame) -> str:
    """Say how many tests lean the stereotypical way at the last layer, and how strongly."""
    texts = []
    for method, own in split(part.filter(pl.col("measure").is_in(COMPARABLE)), "measure"):
        texts.append((f"{method}: " if method else "") + _tests(at_the_end(first_reading(own))))
    return " ".join(texts)


def _tests(last: pl.DataFrame) -> str:
    where, known = f"At the last layer ({last['layer'][0]})", last.drop_nulls("estimate")
    if known.is_empty():
        return f"{where} no effect could be measured; see the notes."
    sure = known.filter(pl.col("p_holm") < ALPHA).height
    against = known.filter(pl.col("estimate") < 0).height
    most = known.sort(pl.col("estimate").abs(), descending=True).head(MOST_NAMED)
    effects = ", ".join(
        f"{titled(row['stereotype'])} {bracketed(row['estimate'], row['ci_low'], row['ci_high'])}"
        for row in most.iter_rows(named=True)
    )
    verb = "is" if sure == 1 else "are"
    noun = "association" if known.height == 1 else "associations"
    other = f"; {against} {'has' if against == 1 else 'have'} the opposite sign" if against else ""
    lead = "Effects" if known.height <= MOST_NAMED else "Largest effects"
    return (
        f"{where} {sure} of {known.height} {noun} {verb} significant (p (Holm) below .05) in the "
        f"expected, stereotypical direction{other}. {lead} (−2 to 2, neutral 0): {effects}."
    )


def _relation(part: pl.DataFrame) -> str:
    """Say where answers and states agree most, and how much missing answers matter."""
    known = part.filter(ONE_LAYER)
    level = "stereotype" if "stereotype" in known["level"] else "trial"
    fewest = pl.col("removed") == pl.col("removed").min()
    own = known.filter(fewest, level=level).drop_nulls("estimate")
    if own.is_empty():
        return ""
    _, first = split(own, "missing_as")[0]
    top, last = strongest(first), at_the_end(first).row(0, named=True)
    if top is None:
        return ""
    at = layer_name(top["layer"])
    text = (
        f"The correlation of answers and hidden states is strongest at {at} (r "
        f"{bracketed(top['estimate'], top['ci_low'], top['ci_high'])}; p (Holm) "
        f"{p_value(top['p_holm'])}; {in_words('missing_as', top['missing_as'])})"
    )
    if top["layer"] != last["layer"]:
        text += f"; at the last layer, {last['layer']}, r is {number(last['estimate'])}"
    same = own.filter(layer=top["layer"])
    if same.height == 1:
        return f"{text}."
    values = ", ".join(
        f"{in_words('missing_as', name)} {number(value)}"
        for name, value in same.select("missing_as", "estimate").iter_rows()
    )
    return f"{text}. At {at} r depends on how missing answers are counted: {values}."


def _directions(part: pl.DataFrame) -> str:
    """Say how well the directions place terms, beside the majority baseline."""
    own = at_one_layer(part).filter(dimension="all")
    if own.is_empty():
        return ""
    own = first_reading(own).filter(pl.col("space") == pl.col("space").first())
    rows = own.drop_nulls("estimate").to_dicts()
    if not rows:
        return ""
    shares = [f"{number(r['estimate'], 3)} {cut_name(r['cut'])}{_against(r)}" for r in rows]
    return (
        f"Share of {rows[0]['n'] or 0:,} terms on the side where the dictionary has them, "
        f"{layer_name(rows[0]['layer'])}: {'; '.join(shares)}. The majority baseline, always the "
        f"more frequent side, has {number(rows[0]['neutral'], 3)}."
    )


def _against(row: Mapping[str, Any]) -> str:
    low, high, majority = row["ci_low"], row["ci_high"], row["neutral"]
    if None in (low, high, majority):
        return ""
    if low > majority:
        return " (better than the majority baseline)"
    side = "worse than" if high < majority else "not distinguishable from"
    return f" ({side} the majority baseline)"
