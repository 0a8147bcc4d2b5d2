"""Score a table of responses, for every instrument.

Answers of a run have the columns of their trial. Recorded answers may have only `model, stereotype,
variation, iteration, response`; the words are then inferred from the answer. Of an answer longer
than 200,000 characters, the first and the last 100,000 are read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from clinometer.errors import InputError, StudyError, unknown
from clinometer.instruments.catalogue import INSTRUMENTS, instrument
from clinometer.instruments.instrument import Instrument, Key, Scored
from clinometer.reading.absence import is_absent
from clinometer.reading.cleaning import final_answer
from clinometer.results import CONDITIONS, SCORES, WORDS
from clinometer.results.places import anywhere
from clinometer.results.shares import as_shares
from clinometer.results.tables import as_frame
from clinometer.scoring.judging import is_judged, judge_trials, rejudge
from clinometer.scoring.recorded import (
    complete,
    folded,
    keys_by_name,
    most_named,
    most_shown,
    named,
)
from clinometer.stimuli import StereotypeWords, Study, load_study, word_key

__all__ = ["Scores", "open_decisions", "score"]


class Scores(NamedTuple):
    """Scores of responses, and the pairings of each word."""

    scores: pl.DataFrame
    words: pl.DataFrame


@anywhere(responses=False)
def score(  # noqa: PLR0913 - what a recorded table may leave open
    responses: object,
    study: str | Path | Study,
    *,
    instrument: str = next(iter(INSTRUMENTS)),
    scoring: str = "exact",
    judged: Mapping[str, str] | None = None,
    judge_all: bool = False,
    model: str | None = None,
    keep: bool = False,
    start: int = 0,
) -> Scores:
    r"""Score responses.

    Parameters
    ----------
    responses
        A polars or pandas frame, or the path of a table. At least `model` (or `llm`),
        `stereotype`, `variation` and `response`; `iteration`, `marginalized`, `default` and every
        other column of `results.RESPONSES` if known. `variation` is not needed if all wordings show
        the same words (decisions and MIST); recorded decisions may be in `profile` and `decision`.
    study
        The stimuli the answers were given to: a study, a shipped name, or the path of its file.
    instrument
        Instrument of responses without a column `instrument`.
    scoring
        ``"exact"``, ``"published"`` or ``"emotions"`` (of `bold`); instruments without the one
        asked for are scored exactly.
    judged
        Answers of a judge to the questions of `open_decisions`, by trial.
    judge_all
        Whether the judge reads every decision, not only those that the rules leave open or find
        conflicting.
    model
        Model of responses without a column `model`.
    keep
        Whether to keep the other columns of `responses`.
    start
        Number of the first response, where they have no `iteration`.

    Returns
    -------
    Scores
        `scores`: columns of `results.SCORES`, a row per response and score, in the given order.
        `words`: columns of `results.WORDS`.

    Raises
    ------
    InputError
        If a column is missing, or `instrument` or `scoring` is unknown.
    StudyError
        If a response names a stereotype or variation the study does not have.

    Examples
    --------
    >>> import polars as pl
    >>> answers = pl.DataFrame({
    ...     "model": "m", "stereotype": "power", "variation": "replication", "iteration": 0,
    ...     "response": "weak - karen\ntimid - karen\nfollow - karen\nsubmissive - eric\n"
    ...                 "strong - eric\ncommand - eric\nconfident - eric\ndominant - eric",
    ... })
    >>> scores, _ = score(answers, "bai2025")
    >>> scores["score"].round(2).to_list()
    [0.8]
    """
    known = dict.fromkeys(name for one in INSTRUMENTS.values() for name in one.scorings)
    if scoring not in known:
        raise InputError(f"scoring {scoring!r}: allowed are {', '.join(known)}")
    responses, study = as_frame(responses, "responses"), load_study(study)
    keys = _Keys(study, scoring)
    paired = {one.paired.name for one in INSTRUMENTS.values() if one.paired}
    if instrument in INSTRUMENTS and "instrument" not in responses.columns:
        responses = INSTRUMENTS[instrument].recorded.expand(responses, study)
    rows: list[dict[str, Any]] = []
    numbers: list[int] = []
    tally: _Tally = defaultdict(lambda: defaultdict(lambda: [0, 0.0]))
    others = responses.select(c for c in responses.columns if keep and c not in SCORES)
    if model is not None and not {"model", "llm"} & set(responses.columns):
        responses = responses.with_columns(model=pl.lit(model))
    table = named(responses, instrument, study)
    for number, trial, key, scored in _each(table, keys, start):
        if judged and is_judged(trial["instrument"], trial, scored, judge_all):
            scored = rejudge(scored, trial, key, judged)
        shown = _with_words(trial, scored, key.words)
        sets = _sets(shown, scored, key)
        row = _row(shown, scored, key.scoring)
        row["control"] = study.control_of(key.stereotype)
        row["unnamed"] = shown["variation"] in keys.unnamed(shown["instrument"]) or None
        row["shares"] = as_shares(scored.shares, sets) if shown["instrument"] in paired else None
        rows.append(row)
        numbers.append(number - start)
        _count(tally, shown, scored, sets)
    kept = [column.gather(numbers) for column in others]
    return Scores(pl.DataFrame(rows, schema=SCORES).hstack(kept), _words(tally))


def open_decisions(
    responses: pl.DataFrame,
    study: Study,
    *,
    instrument: str = "relative_decision",
    judge_all: bool = False,
) -> pl.DataFrame:
    """Make the trials of a judge, for decisions that the rules leave open or find conflicting.

    Parameters are those of `score`. `judge_all` includes decisions that the rules read without
    conflict, to compare them with the judge. Returns columns of `results.TRIALS`, a trial for each
    distinct answer.
    """
    keys = _Keys(study)
    table = named(responses, instrument, study)
    return judge_trials(
        [
            (trial, key.words)
            for _, trial, key, scored in _each(table, keys)
            if is_judged(trial["instrument"], trial, scored, judge_all)
        ]
    )


def _each(
    table: pl.DataFrame, keys: _Keys, start: int = 0
) -> Iterator[tuple[int, dict[str, Any], Key, Scored]]:
    """Yield every score of every response, with its number, trial and key."""
    completed: Iterable[_Completed] = _completed(table, keys, start)
    if any(instrument(name).beside for name in table["instrument"].unique()):
        completed = _with_others(list(completed), keys.study)
    for number, asked, trial, key in completed:
        for part, scored in _score(asked, trial, key).items():
            yield number, {**trial, "instrument": part}, key, scored


#: The number of a response, its instrument, trial and key.
_Completed = tuple[int, Instrument, dict[str, Any], Key]


def _with_others(completed: list[_Completed], study: Study) -> list[_Completed]:
    """Set the other trial beside each whose score needs one, as `other`; see `shared`."""
    together: dict[Hashable, list[dict[str, Any]]] = defaultdict(list)
    alike: dict[tuple[Instrument, Hashable], list[dict[str, Any]]] = defaultdict(list)
    for _, asked, trial, _ in completed:
        if asked.beside is not None:
            conditions = tuple(trial.get(name) for name in ("model", "mode", *CONDITIONS))
            together[asked.name, conditions, asked.beside(trial)].append(trial)
            alike[asked, conditions].append(trial)
    for (asked, _), trials in alike.items():
        known = asked.shared(trials, study)
        for trial in trials:
            trial.update(known)
    for trials in together.values():
        if len(trials) > 2 or len({trial["version"] for trial in trials}) < len(trials):
            first = trials[0]
            raise InputError(
                f"responses: trial {first['trial_id']} of {first['model']} has {len(trials)} "
                "answers with the trial beside it; allowed is one of each"
            )
        for trial, other in zip(trials, trials[::-1], strict=True):
            trial["other"] = dict(other) if len(trials) == 2 else None
    return completed


def _completed(table: pl.DataFrame, keys: _Keys, start: int) -> Iterator[_Completed]:
    for number, row in enumerate(table.iter_rows(named=True), start):
        asked = instrument(row["instrument"])
        row |= _final(row)
        row["stereotype"] = keys.stereotype(row["stereotype"])
        row["variation"] = keys.variation(asked, row.get("variation"))
        row["dimension"] = keys.dimension(asked, row)
        key = keys.of(asked, row["stereotype"], row["variation"], row["dimension"])
        if asked.paired and (shown := row.get("attributes") or row.get("prompt")):
            key, row["other_words"] = keys.as_shown(asked, key, shown)
        yield number, asked, complete(row, number, keys.study, key.words, asked), key


def _final(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer and profile that the model gave; reasoning alone is an answer cut off."""
    texts = {name: final_answer(row[name]) for name in ("response", "profile") if row.get(name)}
    cut = any(one.cut for one in texts.values())
    said = {name: one.text for name, one in texts.items()}
    return {**said, "stop_reason": "max_tokens"} if cut else said


def _score(asked: Instrument, trial: Mapping[str, Any], key: Key) -> Mapping[str, Scored]:
    if trial["error"] is not None or trial["response"] is None or _is_absent(trial):
        return {m.name: Scored(None, "error", 0.0) for m in asked.measures}
    return asked.score(trial["response"], trial, key)


def _is_absent(trial: Mapping[str, Any]) -> bool:
    """Whether a recorded answer is an empty cell or an error: nothing is known of its call."""
    known = (trial.get(name) for name in ("stop_reason", "output_tokens", "reasoning_tokens"))
    return all(value is None for value in known) and is_absent(trial["response"])


class _Keys:
    """Cached keys for scoring answers to a study's cells."""

    def __init__(self, study: Study, scoring: str = "exact") -> None:
        self.study, self.scoring = study, scoring
        self.of = cache(self._of)
        self.stereotype = cache(partial(_find, "stereotype", study.stereotypes))
        self.variation = cache(self._variation)
        self.unnamed = cache(self._unnamed)
        self._lists = cache(self._listed)
        self._known_to = cache(self._variations)
        self._spelled = cache(self._spelling)
        self._dimension = cache(partial(_find, "dimension", study.dimensions))

    def _variations(self, asked: Instrument) -> dict[str, str]:
        """Return the variations of an instrument, each by its own name."""
        return {name: name for name in asked.variations(self.study)}

    def _spelling(self, asked: Instrument) -> dict[str, str]:
        """Return the variations of an instrument by their folded names."""
        return {folded(name): name for name in self._known_to(asked)}

    def _variation(self, asked: Instrument, named: str | None) -> str:
        """Return the variation as the study spells it; none if all show the same words."""
        known = self._known_to(asked)
        if named is not None and named in known:
            return named
        if named and named.removesuffix(".0") in known:  # a number with other columns' empty cells
            return named.removesuffix(".0")
        needed = "variation" in asked.recorded.needs(self.study, ())
        if named in (None, "", "recorded") and not needed:
            return "recorded"
        if (key := self._spelled(asked).get(folded(named or ""))) is None:
            raise StudyError(unknown("variation", str(named), known))
        return key

    def dimension(self, asked: Instrument, row: Mapping[str, Any]) -> str | None:
        """Return the dimension of an answer: as named, or the one with most words in the answer."""
        known = [name for name in self.study.dimensions_of(row["stereotype"]) if name is not None]
        if not asked.recorded.dimensions or not known:
            return None
        if named := row.get("dimension"):
            return self._dimension(named)
        lists = {n: self.of(asked, row["stereotype"], row["variation"], n).words for n in known}
        return most_named(row["response"] or "", lists)

    def as_shown(self, asked: Instrument, key: Key, shown: str | Sequence[str]) -> tuple[Key, bool]:
        """Return the key with the list of the stereotype that a prompt showed.

        And whether it showed words of none, so that answers are to other words than the study's.
        """
        if not isinstance(shown, str) and key.asked.issuperset(shown):
            return key, False
        own = key.association if asked.judged else key.words
        best = most_shown(shown, [own, *self._lists(key.stereotype)])
        if best is None or best == own:
            return key, best is None
        return replace(key, words=key.words if asked.judged else best, shown=best), False

    def _listed(self, stereotype: str) -> Sequence[StereotypeWords]:
        """Return the word lists of a stereotype: of its variations, and of its decisions."""
        return self.study.stereotypes[stereotype].lists()

    def _unnamed(self, name: str) -> Collection[str]:
        """Return the variations of an instrument that name no group."""
        return INSTRUMENTS[name].unnamed(self.study) if name in INSTRUMENTS else ()

    def _of(self, asked: Instrument, stereotype: str, variation: str, dimension: str | None) -> Key:
        scoring = self.scoring if self.scoring in asked.scorings else asked.scorings[0]
        return asked.key(self.study, stereotype, variation, dimension, scoring)


def _find(kind: str, known: Mapping[str, Any], named: object) -> str:
    """Find the name that a recorded answer has."""
    if (key := keys_by_name(known).get(word_key(str(named)))) is None:
        raise StudyError(unknown(kind, str(named), known))
    return key


def _with_words(trial: dict[str, Any], scored: Scored, words: StereotypeWords) -> dict[str, Any]:
    """Add the words of the answer to the trial; inferred words that it did not use are null."""
    trial = {**trial, **{r: word for r, word in scored.words.items() if not trial.get(r)}}
    if not trial.get("inferred") or scored.words:
        return trial
    shares = scored.shares.values()
    used = {"marginalized": any(shares), "default": any(share == 0 for share in shares)}
    unseen = [name for name, seen in used.items() if not seen and len(getattr(words, name)) > 1]
    return {**trial, **dict.fromkeys(unseen)}


_OWN = SCORES.keys() & {field.name for field in fields(Scored)} - {"shares"}


def _row(trial: Mapping[str, Any], scored: Scored, scoring: str) -> dict[str, Any]:
    own = {name: getattr(scored, name) for name in _OWN}
    return {**{name: trial.get(name) for name in SCORES}, **own, "scoring": scoring}


_FACTORS = [name for name in WORDS if name not in ("attribute", "set", "n", "share")]


def _sets(trial: Mapping[str, Any], scored: Scored, key: Key) -> list[str]:
    """Return the set of each word of an answer."""
    own = {trial.get(role): role for role in ("counter", "tied")}
    return [own.get(word) or key.sets.get(word, "extra") for word in scored.shares]


#: Factors of an answer → attribute and set → number and sum of shares.
_Tally = dict[tuple[Any, ...], dict[tuple[str, str], list[float]]]


def _count(tally: _Tally, trial: Mapping[str, Any], scored: Scored, sets: Sequence[str]) -> None:
    of_factors = tally[tuple(trial.get(column) for column in _FACTORS)]
    for (word, share), of in zip(scored.shares.items(), sets, strict=True):
        entry = of_factors[word, of]
        entry[0] += 1
        entry[1] += share


def _words(tally: _Tally) -> pl.DataFrame:
    rows = [
        (*factors, *word, n, total / n)
        for factors, words in tally.items()
        for word, (n, total) in words.items()
    ]
    return pl.DataFrame(rows, schema=WORDS, orient="row")
