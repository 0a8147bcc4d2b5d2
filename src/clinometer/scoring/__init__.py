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

from clinometer.contracts.catalogue import INSTRUMENTS, instrument
from clinometer.contracts.instrument import Instrument, Key, Scored
from clinometer.errors import InputError, StudyError, unknown
from clinometer.reading.absence import is_absent
from clinometer.reading.cleaning import final_answer
from clinometer.results import CONDITIONS, SCORES, WORDS
from clinometer.results.faults import PLACE, Faults, row_places
from clinometer.results.places import anywhere
from clinometer.results.shares import as_shares
from clinometer.results.tables import as_frame
from clinometer.scoring.judging import is_judged, judge_trials, rejudge
from clinometer.scoring.recorded import (
    complete_trial,
    fold_name,
    keys_by_name,
    likeliest_dimension,
    likeliest_list,
    standard_table,
)
from clinometer.stimuli import StereotypeWords, Study, load_study, word_key

__all__ = ["Scores", "open_decisions", "score"]


#: Column with the number of each row of the table that is scored.
_ROW = "clinometer:row"


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
        If a column is missing, `instrument` or `scoring` is unknown, or most rows are wrong; a few
        are set aside with a warning.
    StudyError
        If most responses name a stereotype or variation that the study does not have.

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
    _check_scoring(scoring)
    responses = as_frame(responses, "responses")
    study = load_study(study)
    keys = _Keys(study, scoring)
    paired = {member.paired.name for member in INSTRUMENTS.values() if member.paired}
    if instrument in INSTRUMENTS and "instrument" not in responses.columns:
        responses = INSTRUMENTS[instrument].recorded.expand(responses, study)
    responses = responses.with_row_index(_ROW)
    faults = Faults("responses")
    rows: list[dict[str, Any]] = []
    row_numbers: list[int] = []
    tally: _Tally = defaultdict(lambda: defaultdict(lambda: [0, 0.0]))
    # Before columns are renamed: what is kept has the names that the user gave.
    hidden = {*SCORES, PLACE, _ROW}
    extra_columns = responses.select(c for c in responses.columns if keep and c not in hidden)
    if model is not None and not {"model", "llm"} & set(responses.columns):
        responses = responses.with_columns(model=pl.lit(model))
    table = standard_table(responses, instrument, study, faults)
    for trial, key, scored in _score_responses(table, keys, faults, start):
        measure = trial["instrument"]
        if judged and is_judged(measure, trial, scored, judge_all):
            scored = rejudge(scored, trial, key, judged)
        trial = _with_words(trial, scored, key.words)
        sets = _sets(trial, scored, key)
        row = _row(trial, scored, key.scoring)
        row["control"] = study.control_of(key.stereotype)
        row["construct"] = study.construct_of(key.stereotype, trial.get("dimension"))
        row["unnamed"] = trial["variation"] in keys.unnamed(measure) or None
        row["shares"] = as_shares(scored.shares, sets) if measure in paired else None
        rows.append(row)
        row_numbers.append(trial[_ROW])
        _count_words(tally, trial, scored, sets)
    faults.report(len(set(row_numbers)))
    # A response with several measures has as many rows.
    extra = [column.gather(row_numbers) for column in extra_columns]
    return Scores(pl.DataFrame(rows, schema=SCORES).hstack(extra), _word_table(tally))


def _check_scoring(scoring: str) -> None:
    """Refuse a scoring that no instrument has."""
    scorings: dict[str, None] = {}  # each once, in the order of instruments
    for member in INSTRUMENTS.values():
        scorings |= dict.fromkeys(member.scorings)
    if scoring not in scorings:
        raise InputError(f"scoring {scoring!r}: allowed are {', '.join(scorings)}")


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
    # What is set aside here is set aside, and named, when it is scored.
    faults = Faults("responses")
    table = standard_table(responses, instrument, study, faults)
    open_answers: list[tuple[Mapping[str, Any], StereotypeWords]] = []
    for trial, key, scored in _score_responses(table, keys, faults):
        if is_judged(trial["instrument"], trial, scored, judge_all):
            open_answers.append((trial, key.words))
    return judge_trials(open_answers)


class _Response(NamedTuple):
    """A response with what its score needs."""

    instrument: Instrument
    trial: dict[str, Any]
    key: Key


def _score_responses(
    table: pl.DataFrame, keys: _Keys, faults: Faults, start: int = 0
) -> Iterator[tuple[dict[str, Any], Key, Scored]]:
    """Yield every score of every response, with its trial and key.

    The trial has the name of the score's measure as its `instrument`.
    """
    responses: Iterable[_Response] = _complete_responses(table, keys, faults, start)
    # Without instruments that need a second trial, no more than one response is held at a time.
    if any(instrument(name).beside for name in table["instrument"].unique()):
        responses = list(responses)
        _match_trials(responses, keys.study)
    for source, trial, key in responses:
        for measure, scored in _score_trial(source, trial, key).items():
            yield {**trial, "instrument": measure}, key, scored


def _match_trials(responses: Sequence[_Response], study: Study) -> None:
    """Give each trial whose score needs a second trial that trial, as `other`.

    And the columns that all trials asked alike share; see `Instrument.beside` and `shared`.
    """
    pairs: dict[Hashable, list[dict[str, Any]]] = defaultdict(list)
    runs: dict[tuple[Instrument, Hashable], list[dict[str, Any]]] = defaultdict(list)
    for source, trial, _ in responses:
        if source.beside is not None:
            conditions = tuple(trial.get(name) for name in ("model", "mode", *CONDITIONS))
            pairs[source.name, conditions, source.beside(trial)].append(trial)
            runs[source, conditions].append(trial)
    for (source, _), trials in runs.items():
        columns = source.shared(trials, study)
        for trial in trials:
            trial.update(columns)
    for trials in pairs.values():
        if len(trials) > 2 or len({trial["version"] for trial in trials}) < len(trials):
            first = trials[0]
            raise InputError(
                f"responses: trial {first['trial_id']} of {first['model']} has {len(trials)} "
                "answers with the trial beside it; allowed is one of each"
            )
        for trial, partner in zip(trials, trials[::-1], strict=True):
            # A copy, because the partner's `other` is this trial.
            trial["other"] = dict(partner) if len(trials) == 2 else None


def _complete_responses(
    table: pl.DataFrame, keys: _Keys, faults: Faults, start: int
) -> Iterator[_Response]:
    """Yield each response with the names that the study has, and columns that it lacks.

    Those whose names the study does not have are set aside.
    """
    places = row_places(table)
    for number, row in enumerate(table.iter_rows(named=True)):
        try:
            response = _complete_response(row, number + start, keys)
        except (InputError, StudyError) as error:
            faults.add(places[number], error)
            continue
        yield response


def _complete_response(row: dict[str, Any], number: int, keys: _Keys) -> _Response:
    """Complete a response; see `_complete_responses`."""
    source = instrument(row["instrument"])
    if source.episode is None:  # whose answers are cleaned one by one
        row |= _final_texts(row)
    # The dimension last: it may follow from the words of stereotype and variation.
    row["stereotype"] = keys.stereotype(row["stereotype"])
    row["variation"] = keys.variation(source, row.get("variation"))
    row["dimension"] = keys.dimension(source, row)
    key = keys.cell(source, row["stereotype"], row["variation"], row["dimension"])
    if source.paired and (question := row.get("attributes") or row.get("prompt")):
        key, row["other_words"] = keys.key_of_question(source, key, question)
    trial = complete_trial(row, number, keys.study, key.words, source)
    return _Response(source, trial, key)


def _final_texts(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer and profile that the model gave; reasoning alone is an answer cut off."""
    texts: dict[str, Any] = {}
    for name in ("response", "profile"):
        if row.get(name):
            answer = final_answer(row[name])
            texts[name] = answer.text
            if answer.cut:
                texts["stop_reason"] = "max_tokens"
    return texts


def _score_trial(source: Instrument, trial: Mapping[str, Any], key: Key) -> Mapping[str, Scored]:
    """Return the score of each measure of an instrument; of failed calls, the reason ``error``."""
    if trial["error"] is not None or trial["response"] is None or _is_absent(trial):
        return {measure.name: Scored(None, "error", 0.0) for measure in source.measures}
    return source.score(trial["response"], trial, key)


def _is_absent(trial: Mapping[str, Any]) -> bool:
    """Whether a recorded answer is an empty cell or an error: nothing is known of its call."""
    for name in ("stop_reason", "output_tokens", "reasoning_tokens"):
        if trial.get(name) is not None:
            return False
    return is_absent(trial["response"])


class _Keys:
    """Cached keys for scoring answers to a study's cells."""

    def __init__(self, study: Study, scoring: str = "exact") -> None:
        self.study, self.scoring = study, scoring
        # Caches of this object's methods: a table has many rows and few cells.
        self.cell = cache(self._find_cell)
        self.stereotype = cache(partial(_find_key, "stereotype", study.stereotypes))
        self.variation = cache(self._find_variation)
        self.unnamed = cache(self._find_unnamed)
        self._lists = cache(self._find_lists)
        self._variations = cache(self._find_variations)
        self._spellings = cache(self._fold_variations)
        self._dimension = cache(partial(_find_key, "dimension", study.dimensions))

    def _find_variations(self, source: Instrument) -> Collection[str]:
        """Return the variations of an instrument."""
        return source.variations(self.study).keys()

    def _fold_variations(self, source: Instrument) -> dict[str, str]:
        """Return the variations of an instrument by their folded names."""
        return {fold_name(name): name for name in self._variations(source)}

    def _find_variation(self, source: Instrument, name: str | None) -> str:
        """Return the variation as the study spells it; ``recorded`` if all show the same words."""
        variations = self._variations(source)
        if name is not None and name in variations:
            return name
        # A column of numbers with empty cells is read as one of decimals.
        if name and name.removesuffix(".0") in variations:
            return name.removesuffix(".0")
        needed = "variation" in source.recorded.needs(self.study, ())
        if name in (None, "", "recorded") and not needed:
            return "recorded"
        variation = self._spellings(source).get(fold_name(name or ""))
        if variation is None:
            raise StudyError(unknown("variation", str(name), variations))
        return variation

    def dimension(self, source: Instrument, row: Mapping[str, Any]) -> str | None:
        """Return the dimension of an answer: as named, or the one with most words in the answer."""
        stereotype, variation = row["stereotype"], row["variation"]
        dimensions = [name for name in self.study.dimensions_of(stereotype) if name is not None]
        if not source.recorded.dimensions or not dimensions:
            return None
        if name := row.get("dimension"):
            return self._dimension(name)
        lists = {name: self.cell(source, stereotype, variation, name).words for name in dimensions}
        return likeliest_dimension(row["response"] or "", lists)

    def key_of_question(
        self, source: Instrument, key: Key, question: str | Sequence[str]
    ) -> tuple[Key, bool]:
        """Return the key with the list of the stereotype that a question showed.

        And whether it showed words of none, so that answers are to other words than the study's.
        `question` is the prompt, or the words that it showed.
        """
        if not isinstance(question, str) and key.vocabulary.issuperset(question):
            return key, False
        # What is judged is a decision after the association, and has words of its own.
        expected = key.association if source.judged else key.words
        closest = likeliest_list(question, [expected, *self._lists(key.stereotype)])
        if closest is None or closest == expected:
            return key, closest is None
        words = key.words if source.judged else closest
        return replace(key, words=words, recorded_words=closest), False

    def _find_lists(self, stereotype: str) -> Sequence[StereotypeWords]:
        """Return the word lists of a stereotype: of its variations, and of its decisions."""
        return self.study.stereotypes[stereotype].lists()

    def _find_unnamed(self, name: str) -> Collection[str]:
        """Return the variations of an instrument that name no group."""
        # A measure that is not the first of its instrument has another name than that.
        return INSTRUMENTS[name].unnamed(self.study) if name in INSTRUMENTS else ()

    def _find_cell(
        self, source: Instrument, stereotype: str, variation: str, dimension: str | None
    ) -> Key:
        """Return the key of a cell, with the scoring that was asked for where there is one."""
        scoring = self.scoring if self.scoring in source.scorings else source.scorings[0]
        return source.key(self.study, stereotype, variation, dimension, scoring)


def _find_key(kind: str, content: Mapping[str, Any], name: object) -> str:
    """Return the study's key of what a recorded answer names; `content`: key → stereotype, say."""
    if (key := keys_by_name(content).get(word_key(str(name)))) is None:
        raise StudyError(unknown(kind, str(name), content))
    return key


def _with_words(trial: dict[str, Any], scored: Scored, words: StereotypeWords) -> dict[str, Any]:
    """Add the words of the answer to the trial; inferred words that it did not use are null."""
    from_answer = {role: word for role, word in scored.words.items() if not trial.get(role)}
    trial = {**trial, **from_answer}
    if not trial.get("inferred") or scored.words:
        return trial
    shares = scored.shares.values()
    used = {"marginalized": any(shares), "default": any(share == 0 for share in shares)}
    for role, is_used in used.items():
        # The only word of a group is known without its use.
        if not is_used and len(getattr(words, role)) > 1:
            trial[role] = None
    return trial


#: Columns of scores that a reader fills; `shares` is written with the set of each word.
_FROM_READER = SCORES.keys() & {field.name for field in fields(Scored)} - {"shares"}


def _row(trial: Mapping[str, Any], scored: Scored, scoring: str) -> dict[str, Any]:
    """Return a row of `results.SCORES`: columns of the trial, those of its score over them."""
    row = {name: trial.get(name) for name in SCORES}
    row |= {name: getattr(scored, name) for name in _FROM_READER}
    row["scoring"] = scoring
    return row


#: Columns of `results.WORDS` that all words of an answer share.
_FACTORS = [name for name in WORDS if name not in ("attribute", "set", "n", "share")]


def _sets(trial: Mapping[str, Any], scored: Scored, key: Key) -> list[str]:
    """Return the set of each word of an answer."""
    # The roles of the trial come first: another list of the stereotype may have a word elsewhere.
    roles = {trial.get(role): role for role in ("counter", "tied")}
    return [roles.get(word) or key.sets.get(word, "extra") for word in scored.shares]


#: Factors of an answer → attribute and set → number and sum of shares.
_Tally = dict[tuple[Any, ...], dict[tuple[str, str], list[float]]]


def _count_words(
    tally: _Tally, trial: Mapping[str, Any], scored: Scored, sets: Sequence[str]
) -> None:
    """Add the words of an answer to the tally."""
    words = tally[tuple(trial.get(column) for column in _FACTORS)]
    for (word, share), word_set in zip(scored.shares.items(), sets, strict=True):
        count_and_sum = words[word, word_set]
        count_and_sum[0] += 1
        count_and_sum[1] += share


def _word_table(tally: _Tally) -> pl.DataFrame:
    """Return the mean share of each word (`results.WORDS`)."""
    rows: list[tuple[Any, ...]] = []
    for factors, words in tally.items():
        rows += [(*factors, *word, n, total / n) for word, (n, total) in words.items()]
    return pl.DataFrame(rows, schema=WORDS, orient="row")
