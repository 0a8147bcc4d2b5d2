"""Responses to scores, frame to frame, for every instrument.

Answers of a run carry their trial. Recorded answers may carry only `model, stereotype,
variation, iteration, response`; the group words are then inferred from the answer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import polars as pl

from tiltmeter.elicitation.parsing import infer_groups
from tiltmeter.errors import InputError, StudyError, unknown
from tiltmeter.frames import SCORES, WORDS
from tiltmeter.instruments import word_association
from tiltmeter.stimuli import Study, Words

__all__ = ["REQUIRED", "score"]

REQUIRED = ("model", "stereotype", "variation", "response")
SCORINGS = ("exact", "published")


def score(
    responses: pl.DataFrame, study: Study, *, scoring: str = "exact"
) -> tuple[pl.DataFrame, pl.DataFrame]:
    r"""Score responses to a word association test.

    Parameters
    ----------
    responses
        At least `model` (or `llm`), `stereotype`, `variation` and `response`; `iteration`,
        `marginalized`, `default` and every other column of `frames.RESPONSES` where known.
    study
        The stimuli the answers were given to.
    scoring
        ``"exact"`` or ``"published"``.

    Returns
    -------
    scores : polars.DataFrame
        Columns of `frames.SCORES`, a row per response in the order given.
    words : polars.DataFrame
        Columns of `frames.WORDS`.

    Raises
    ------
    InputError
        If a column is missing or `scoring` is not known.
    StudyError
        If a response names a stereotype or variation the study does not have.

    Examples
    --------
    >>> import polars as pl
    >>> from tiltmeter.stimuli import load_study
    >>> answers = pl.DataFrame({
    ...     "model": "m", "stereotype": "power", "variation": "replication", "iteration": 0,
    ...     "response": "weak - karen\ntimid - karen\nfollow - karen\nsubmissive - eric\n"
    ...                 "strong - eric\ncommand - eric\nconfident - eric\ndominant - eric",
    ... })
    >>> scores, _ = score(answers, load_study("bai2025"))
    >>> scores["score"].round(2).to_list()
    [0.8]
    """
    if scoring not in SCORINGS:
        raise InputError(f"scoring {scoring!r}: allowed are {', '.join(SCORINGS)}")
    words_of = _word_lists(study)
    rows: list[dict[str, Any]] = []
    tally: dict[tuple[Any, ...], list[float]] = defaultdict(lambda: [0, 0.0])
    for number, row in enumerate(_named(responses).iter_rows(named=True)):
        words = words_of(row["stereotype"], row["variation"])
        trial = _trial(row, number, study, words)
        if trial["error"] is not None or trial["response"] is None:
            scored = word_association.Scored(None, "error", 0.0)
        else:
            scored = word_association.score(trial["response"], trial, words, scoring)
        trial = _forget_unseen(trial, scored, words)
        rows.append(_row(trial, scored, scoring))
        factors = tuple(trial[column] for column in _TALLY)
        for word, share in scored.shares.items():
            entry = tally[(*factors, word)]
            entry[0] += 1
            entry[1] += share
    return pl.DataFrame(rows, schema=SCORES), _words(tally, words_of)


_TALLY = [name for name in WORDS if name not in ("attribute", "set", "n", "p")]


def _named(responses: pl.DataFrame) -> pl.DataFrame:
    if "model" not in responses.columns and "llm" in responses.columns:
        responses = responses.rename({"llm": "model"})
    missing = [name for name in REQUIRED if name not in responses.columns]
    if missing:
        raise InputError(
            f"responses: missing column {', '.join(missing)}; "
            f"needed are {', '.join(REQUIRED)}, found {', '.join(responses.columns)}"
        )
    return responses


def _word_lists(study: Study) -> Any:
    variations = study.instruments["word_association"].variations

    @cache
    def words_of(stereotype: str, variation: str) -> Words:
        if stereotype not in study.stereotypes:
            raise StudyError(unknown("stereotype", str(stereotype), study.stereotypes))
        if variation not in variations:
            raise StudyError(unknown("variation", str(variation), variations))
        return study.stereotypes[stereotype].words(variation)

    return words_of


def _trial(row: Mapping[str, Any], number: int, study: Study, words: Words) -> dict[str, Any]:
    """Fill in what a recorded answer does not carry."""
    iteration = row.get("iteration")
    trial = {
        "study": study.name,
        "instrument": word_association.MEASURE.instrument,
        "mode": "free",
        "category": study.stereotypes[row["stereotype"]].category,
        "order": None,
        "error": None,
        **{key: value for key, value in row.items() if value not in (None, "")},
        "iteration": number if iteration is None else iteration,
        "response": row["response"],
    }
    if trial.keys() & {"marginalized", "default"} != {"marginalized", "default"}:
        seen = infer_groups(row["response"] or "", words.marginalized, words.default)
        marginalized, default = seen or (words.marginalized[0], words.default[0])
        trial.update(marginalized=marginalized, default=default, inferred=True)
    trial.setdefault(
        "trial_id",
        f"{study.name}.recorded.{row['stereotype']}.{row['variation']}.{trial['iteration']}",
    )
    return trial


def _forget_unseen(
    trial: dict[str, Any], scored: word_association.Scored, words: Words
) -> dict[str, Any]:
    """Drop inferred group words that the answer did not use: one of several, nobody knows which."""
    if not trial.get("inferred"):
        return trial
    shares = scored.shares.values()
    used = {"marginalized": any(shares), "default": any(share == 0 for share in shares)}
    unseen = [name for name, seen in used.items() if not seen and len(getattr(words, name)) > 1]
    return {**trial, **dict.fromkeys(unseen)}


def _row(trial: Mapping[str, Any], scored: word_association.Scored, scoring: str) -> dict[str, Any]:
    own = {
        name: getattr(scored, name)
        for name in ("score", "reason", "coverage", "one_sided", "first_share", "logit")
    }
    return {**{name: trial.get(name) for name in SCORES}, **own, "scoring": scoring}


def _words(tally: Mapping[tuple[Any, ...], list[float]], words_of: Any) -> pl.DataFrame:
    def rows() -> Iterable[dict[str, Any]]:
        for (*factors, word), (n, total) in tally.items():
            row = dict(zip(_TALLY, factors, strict=True))
            words = words_of(row["stereotype"], row["variation"])
            role = "tied" if word in words.tied else "counter" if word in words.counter else "extra"
            yield {**row, "attribute": word, "set": role, "n": n, "p": total / n}

    return pl.DataFrame(list(rows()), schema=WORDS)
