"""Numbers and verdicts as words, the same in sentences, tables and figures."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

# Also names of `clinometer.pieces`, whose stub can name its own modules only.
from clinometer.numbers import (
    bracketed,
    count,
    interval,
    many,
    number,
    out_of,
    p_value,
    percent,
    percent_interval,
    plain_text,
    signed,
    thousands,
)
from clinometer.results import Measure, verdicts
from clinometer.results.ranges import RANGES, has_open_words
from clinometer.texts import visible

__all__ = [
    "ALPHA",
    "LEANS",
    "MEANINGS",
    "OPEN_WORDS",
    "SCORE_VERDICTS",
    "SIGNS",
    "WORST",
    "as_argument",
    "bracketed",
    "capital",
    "category_title",
    "chance_note",
    "count",
    "counted",
    "cut",
    "display_names",
    "endings",
    "file_names",
    "first_few",
    "full_stop",
    "headline_kind",
    "interval",
    "interval_title",
    "join_names",
    "lean_verb",
    "lower_first",
    "mean_text",
    "name_in_text",
    "number",
    "out_of",
    "p_value",
    "percent",
    "percent_interval",
    "plain_text",
    "scale",
    "short_names",
    "signed",
    "splits_text",
    "thousands",
    "verdict",
    "verdict_class",
    "verdict_count",
    "verdict_counts",
    "verdict_kind",
    "with_numbers",
]

#: A result with a larger p is not significant.
ALPHA = 0.05

#: The kinds of verdict that tell of a lean, and what a headline calls one with other words open.
LEANS, OPEN_WORDS = ("consistent", "reversed"), "words open"

#: What a reason for having no score means.
MEANINGS = {
    "refused": "the model declined",
    "neither": "nothing was decided",
    "both": "decided both ways",
    "unparsed": "no answer could be read",
    "truncated": "the answer was cut off",
    "low_coverage": "too few of the words were paired",
    "unpaired": "the trial beside it has no answer",
    "unreasoned": "no tokens of reasoning are stated",
    "options_unlikely": "the options have next to no probability",
    "reasoning": "the model begins to reason instead of choosing",
    "tokens_unreadable": "the server does not spell the tokens of an option",
    "other_words": "the answer is to other words than the study's",
    "error": "no answer came: an error, or an empty cell",
}

#: What a thin line shows.
WORST = "worst case, all missing answers at one end of the scale"

#: The kind of a verdict → its sign and label. A code of another kind is shown as it stands.
SCORE_VERDICTS = {
    "consistent": ("▲", "consistent"),
    "reversed": ("▼", "reversed"),
    "equivalent": ("■", verdicts.PRINTED_MEANS["equivalent"]),
    "inconclusive": ("○", verdicts.PRINTED_MEANS["inconclusive"]),
    "no verdict": ("–", verdicts.PRINTED_MEANS["no verdict"]),
}
SIGNS = {
    **SCORE_VERDICTS,
    "worse": ("▲", "worse"),
    "turned": ("⇄", "turned to the other side"),
    "better": ("▼", "better"),
    "not_worse": ("■", "not worse"),
    "cannot_tell": ("○", "cannot tell yet"),
    "no change": ("■", "no change"),
    "passed": ("✓", "passed"),
    "failed": ("✗", "failed"),
    "not known": ("○", "not known"),
}


def mean_text(row: Mapping[str, Any]) -> str:
    """Write a mean, with its intervals in these prompts and in others in brackets.

    `row`: ``estimate, ci_low, ci_high`` and, where the table has this range, ``ci_low_bounded,
    ci_high_bounded`` (see `frames.clustered`).
    """
    ends = {
        RANGES["prompts"]: (row.get("ci_low_bounded"), row.get("ci_high_bounded")),
        RANGES["other_prompts"]: (row["ci_low"], row["ci_high"]),
    }
    intervals = [f"{interval(*pair)} {words}" for words, pair in ends.items() if None not in pair]
    brackets = f" [{'; '.join(intervals)}]" if intervals else ""
    return f"{number(row['estimate'])}{brackets}"


def with_numbers(means: pl.DataFrame) -> pl.DataFrame:
    """Write each ``estimate`` and its interval as text: ``shown`` and ``interval``."""
    ends = zip(means["ci_low"], means["ci_high"], strict=True)
    return means.with_columns(
        pl.Series("shown", map(number, means["estimate"]), dtype=pl.String),
        pl.Series("interval", itertools.starmap(interval, ends), dtype=pl.String),
    )


def verdict(code: str | None, *, directed: bool = True) -> str:
    """Write a verdict code as sign and label; `directed`: see `Measure`."""
    kind = verdict_kind(code)
    if kind not in SIGNS:
        return code or "n/a"
    sign, label = SIGNS[kind]
    if kind in SCORE_VERDICTS:
        label = verdicts.print_mean_verdict(kind, directed=directed)
    return f"{sign} {label}{(code or '')[len(kind) :]}"


def as_argument(directory: Path) -> str:
    """Return a path as commands take it; of an absolute one, which names a machine, the end."""
    return directory.name if directory.is_absolute() else str(directory)


def verdict_kind(code: str | None) -> str:
    """Return what a code says before its reason or restriction: "no verdict: compliance"."""
    return re.split("[:,]", code or "", maxsplit=1)[0].strip()


def headline_kind(row: Mapping[str, Any]) -> str:
    """Return the kind of verdict that a headline counts a mean as.

    A lean with other words open, as with one word for a group, is `OPEN_WORDS`: it has no error
    rate over words. `row`: of estimates, with ``verdict`` and ``conditional_on``.
    """
    kind = verdict_kind(row["verdict"]) or "no verdict"
    is_open = kind in LEANS and has_open_words(row["conditional_on"])
    return OPEN_WORDS if is_open else kind


def verdict_class(code: str | None) -> str:
    """Return the style class of a verdict; empty for codes that are not known."""
    kind = verdict_kind(code)
    return kind if kind in SIGNS and " " not in kind else ""


def lean_verb(kind: str, measure: Measure, *, several: bool = False) -> str:
    """Say in which direction a mean leans, or `several` do, by the kind of its verdict."""
    verb, direction = verdicts.print_mean_verdict(kind, directed=measure.directed).split(" ", 1)
    return f"{verb.removesuffix('s') if several else verb} {direction}"


def chance_note(row: Mapping[str, Any]) -> str:
    """Say of a difference without a direction that it may be chance; nothing of the others."""
    has_direction = row["verdict"] in (verdicts.LOWER, verdicts.HIGHER)
    return "" if has_direction else ", not distinguishable from chance"


def counted(count: int, noun: str) -> str:
    """Write a number of things."""
    return f"{many(count)} {noun}{'' if count == 1 else 's'}"


def category_title(category: str | None) -> str:
    """Write a category as a heading."""
    return (category or "no category").replace("_", " ").capitalize()


def splits_text(row: Mapping[str, Any]) -> str:
    """Write the interval of random splits of the group words, and the p of a mean among them."""
    if row["p_placebo"] is None:
        return "–"
    ends = interval(row["placebo_low_placebo"], row["placebo_high_placebo"])
    return f"{ends}, p {p_value(row['p_placebo'])}"


def scale(measure: Measure) -> str:
    """State range, neutral value and direction of a measure."""
    ends = interval(measure.low, measure.high, 0).replace("inf", "∞")
    neutral = f"neutral {measure.neutral:g}".replace("-", "−")
    text = f"Range {ends}, {'no neutral value' if math.isnan(measure.neutral) else neutral}"
    return f"{text}; {measure.direction}." if measure.direction else f"{text}."


def short_names(models: Sequence[str]) -> dict[str, str]:
    """Leave out providers where the rest still tells the models apart."""
    ends = [model.rsplit("/", 1)[-1] for model in models]
    return dict(zip(models, ends if len(set(ends)) == len(ends) else models, strict=True))


def file_names(names: Sequence[str]) -> list[str]:
    """Make names fit for files; by number where they would no longer differ."""
    slugs = [re.sub("[^a-z0-9]+", "-", name.lower()).strip("-") for name in names]
    if "" in slugs or len(set(slugs)) < len(slugs):
        return [str(place) for place in range(1, len(slugs) + 1)]
    return slugs


def endings(names: Sequence[str]) -> list[str]:
    """Return what ends the file name of each of several parts; nothing where there is one."""
    return [f"-{file}" for file in file_names(names)] if len(names) > 1 else [""] * len(names)


#: Characters shown of a name.
LONGEST = 48


def display_names(names: Iterable[str], unnamed: str, longest: int = LONGEST) -> dict[str, str]:
    """Return for each name the text it is shown by; no two share one.

    `unnamed`: shown for a name without letters.
    `longest`: characters of a name, without the number that tells two apart.
    Result: in the order given.
    """
    labels: dict[str, str] = {}
    for name in dict.fromkeys(names):
        label = text = cut(" ".join(visible(name).split()) or unnamed, longest)
        numbers = itertools.count(2)
        while label in labels.values():
            label = f"{text} ({next(numbers)})"
        labels[name] = label
    return labels


def capital(text: str) -> str:
    """Begin a text with a capital; the rest stays as it is."""
    return text[:1].upper() + text[1:]


#: What is said of several means that do not lean, by the kind of their verdict.
_NO_LEAN = {
    "equivalent": "without a lean found",
    "inconclusive": "unclear",
    "no verdict": "without a verdict",
}


def verdict_counts(rows: Iterable[Mapping[str, Any]], measure: Measure) -> str:
    """Say how many means lean, and how many do not, by their verdicts.

    `rows`: of estimates, with ``verdict`` and ``conditional_on``.
    """
    kinds = Counter(map(headline_kind, rows))
    order = (*SCORE_VERDICTS, OPEN_WORDS)
    return ", ".join(verdict_count(kind, kinds[kind], measure) for kind in order if kinds[kind])


def verdict_count(kind: str, count: int, measure: Measure) -> str:
    """Say how many means have a kind of verdict: one of `headline_kind`."""
    if kind == OPEN_WORDS:
        return f"{count} {'lean' if count > 1 else 'leans'} with the words asked, others open"
    return f"{count} {_NO_LEAN.get(kind) or lean_verb(kind, measure, several=count > 1)}"


def join_names(names: Iterable[str]) -> str:
    """List names in a sentence: commas, and "and" before the last."""
    *most, last = [*names] or [""]
    return f"{', '.join(most)} and {last}" if most else last


def full_stop(sentence: str) -> str:
    """End a sentence."""
    return sentence if sentence.endswith((".", "”")) else f"{sentence}."


def lower_first(text: str) -> str:
    """Begin a text in lower case, unless it begins with an abbreviation (BBQ)."""
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]


def name_in_text(instrument: str, title: str) -> str:
    """Name an instrument in running text: in lower case, but for capitals of its title (BBQ)."""
    words = [word.strip(",") for word in title.split()]
    abbreviations = {word.lower(): word for word in words if word.isupper()}
    return " ".join(abbreviations.get(word, word) for word in instrument.split("_"))


def cut(text: str, longest: int) -> str:
    """Cut a text to so many characters, the last an ellipsis."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def first_few(names: Sequence[str], most: int = 3) -> str:
    """List the first few names, and say how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def interval_title(frame: pl.DataFrame) -> str:
    """Name the intervals of a table by its ``confidence``: "95% interval"."""
    confidences = frame["confidence"].drop_nulls().unique().sort()
    return f"{' or '.join(f'{100 * value:g}%' for value in confidences) or '95%'} interval"
