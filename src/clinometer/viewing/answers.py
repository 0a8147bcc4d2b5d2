"""Answers chosen by what they are about, their verdict and their words, a page at a time.

Tables are scanned: a request reads the columns and rows that it shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import polars as pl

from clinometer.directory.results import read_estimates
from clinometer.results import CONDITIONS, RESPONSES, SCORES, join_methods
from clinometer.results.ranges import IN_PROMPTS
from clinometer.results.tables import scan_table
from clinometer.results.verdicts import verdict_kind
from clinometer.viewing.runs import ListedRun, Stamp, stamps

#: Answers on a page.
PAGE = 50
#: Characters of a text that a list shows.
PREVIEW = 160

#: Characters of recorded log-probabilities that are read, to list them as probabilities.
MOST_CHARACTERS = 20_000

#: What answers are chosen by, each a column; status and verdict are made here.
FILTERS = ("model", "study", "instrument", "mode", *CONDITIONS, "category", "stereotype",
           "dimension", "verdict", "status")  # fmt: skip

#: What tells answers apart.
_ID = ["model", "trial_id"]
_TEXTS = ("prompt", "profile", "followup", "response", "error")
_LIST_COLUMNS = (
    "model",
    "trial_id",
    "study",
    "instrument",
    "mode",
    *CONDITIONS,
    "category",
    "stereotype",
    "dimension",
    "variation",
    "order",
    "marginalized",
    "default",
)
_SCORE_COLUMNS = ("score", "reason", "outcome", "word_list", "scoring")

#: What the mean of a stereotype and a score that enters it have in common.
_MEAN_KEYS = [
    "model",
    "study",
    "instrument",
    "mode",
    *CONDITIONS,
    "word_list",
    "scoring",
    "stereotype",
    "dimension",
]
_MEAN = (
    *_MEAN_KEYS,
    "estimate",
    "ci_low",
    "ci_high",
    "n_scored",
    "verdict",
    "because",
    "neutral",
    "conditional_on",
    "ci_low_bounded",
    "ci_high_bounded",
    "verdict_bounded",
)

#: Orders of the list: name → whether the highest score comes first; None: as asked.
SORTS = {"": None, "highest": True, "lowest": False}


@dataclass(frozen=True)
class AnswerSelection:
    """Which answers are shown: values of `FILTERS`, words in their texts, and the order."""

    values: Mapping[str, str] = field(default_factory=dict)
    text: str = ""
    sort: str = ""

    def query(self) -> dict[str, str]:
        """Return what an address says of it."""
        more = {"text": self.text, "sort": self.sort}
        return {**self.values, **{name: value for name, value in more.items() if value}}


@dataclass(frozen=True)
class Neighbours:
    """The answers before and after one, as model and trial, and its place among how many."""

    before: tuple[str, str] | None
    after: tuple[str, str] | None
    place: int
    count: int


@dataclass(frozen=True)
class AnswerTables:
    """Tables that answers are read from; without scores, answers have no score yet."""

    responses: Path
    scores: Path | None = None
    directory: Path | None = None  # of the estimates

    def rows(self, selection: AnswerSelection) -> pl.LazyFrame:
        """Scan what is listed of the answers chosen: a row per score, or per answer without.

        Raises InputError, also when it is collected, if a table is malformed.
        """
        rows = self._all_rows()
        for name, value in selection.values.items():
            if name != "verdict":
                rows = rows.filter(pl.col(name) == value)
        if "verdict" in selection.values:
            means = self.means().filter(
                verdict_kind(pl.col("verdict")) == selection.values["verdict"]
            )
            rows = rows.join(means.lazy(), on=_MEAN_KEYS, how="semi", nulls_equal=True)
        if selection.text:
            matches = _find_words(self, selection.text.lower(), stamps(self.responses))
            rows = rows.join(matches.lazy(), on=_ID, how="semi")
        highest = SORTS.get(selection.sort)
        if highest is None:
            return rows
        return rows.sort("score", descending=highest, nulls_last=True, maintain_order=True)

    def _all_rows(self) -> pl.LazyFrame:
        if self.scores is not None:
            scored = pl.coalesce(
                pl.when(pl.col("score").is_not_null()).then(pl.lit("scored")), "reason"
            )
            rows = scan_table(self.scores, SCORES).select(*_LIST_COLUMNS, *_SCORE_COLUMNS)
            return rows.with_columns(status=scored.fill_null("not scored"))
        failed = pl.col("error").is_not_null()
        status = pl.when(failed).then(pl.lit("error")).otherwise(pl.lit("answered"))
        none = [pl.lit(None, SCORES[name]).alias(name) for name in _SCORE_COLUMNS]
        return self.scan_answers().select(*_LIST_COLUMNS, *none, status=status)

    def scan_answers(self) -> pl.LazyFrame:
        """Scan the answers with what was asked; raises as `rows`."""
        return scan_table(self.responses, RESPONSES)

    def page(self, selection: AnswerSelection, number: int) -> tuple[pl.DataFrame, int]:
        """Return a page of the answers chosen, with the beginning of their texts, and how many.

        A row per score, those of an answer together; of an answer without, one.

        Raises InputError if a table is malformed.
        """
        ids = self.ids(selection)
        page_ids = ids.slice((number - 1) * PAGE, PAGE)
        rows = self.rows(selection).filter(pl.col("trial_id").is_in(page_ids["trial_id"].implode()))
        listed = page_ids.join(rows.collect(), on=_ID, how="inner", nulls_equal=True,
                               maintain_order="left_right")  # fmt: skip
        listed = listed.join(self.means(), on=_MEAN_KEYS, how="left", nulls_equal=True,
                             maintain_order="left")  # fmt: skip
        # A character more than is shown, so that a cut text is known as one.
        heads = [pl.col(name).str.slice(0, PREVIEW + 1) for name in ("prompt", "error")]
        length = pl.when(pl.col("options").is_null()).then(PREVIEW + 1).otherwise(MOST_CHARACTERS)
        answer = pl.col("response").str.slice(0, length)
        texts = self._read_texts(listed, *_ID, *heads, answer, "options")
        return listed.join(texts, on=_ID, how="left", maintain_order="left"), ids.height

    def ids(self, selection: AnswerSelection) -> pl.DataFrame:
        """Return what tells the answers chosen apart, in the order of the list."""
        return self.rows(selection).select(_ID).unique(maintain_order=True).collect()

    def _read_texts(self, answers: pl.DataFrame, *columns: str | pl.Expr) -> pl.DataFrame:
        """Read columns of some answers, the first of each."""
        ids = pl.col("trial_id").is_in(answers["trial_id"].unique().implode())
        texts = self.scan_answers().filter(ids).select(*columns).collect()
        return texts.join(answers.select(_ID), on=_ID, how="semi").unique(_ID, keep="first")

    def means(self) -> pl.DataFrame:
        """Return the means of the stereotypes with their verdicts; none before there are any."""
        if self.directory is None:
            return pl.DataFrame(schema=dict.fromkeys(_MEAN, pl.String()))
        return _means(self.directory, stamps(self.directory / "estimates.parquet"))

    def answer(self, model: str, trial: str) -> tuple[dict[str, Any], list[dict[str, Any]]] | None:
        """Return an answer with what was asked, and its scores; None where there is none."""
        same = (pl.col("model") == model) & (pl.col("trial_id") == trial)
        responses = self.scan_answers().filter(same).select(list(RESPONSES)).head(1).collect()
        if responses.is_empty():
            return None
        scores = pl.DataFrame(schema=SCORES)
        if self.scores is not None:
            scores = scan_table(self.scores, SCORES).filter(same).select(list(SCORES)).collect()
            scores = scores.join(self.means(), on=_MEAN_KEYS, how="left", nulls_equal=True,
                                 maintain_order="left")  # fmt: skip
        return responses.row(0, named=True), list(scores.iter_rows(named=True))

    def partner(self, answer: Mapping[str, Any]) -> str | None:
        """Return the trial of the same draw in the other order; None without one."""
        if answer["pair_id"] is None:
            return None
        partners = self.scan_answers().filter(
            pl.col("pair_id") == answer["pair_id"],
            pl.col("model") == answer["model"],
            pl.col("trial_id") != answer["trial_id"],
        )
        trials = partners.select("trial_id").head(1).collect()["trial_id"].to_list()
        return trials[0] if trials else None

    def neighbours(self, selection: AnswerSelection, model: str, trial: str) -> Neighbours | None:
        """Return what stands around an answer among those chosen; None where it is not one."""
        ids = self.ids(selection)
        is_answer = ids.select((pl.col("model") == model) & (pl.col("trial_id") == trial))
        places = is_answer.to_series().arg_true()
        if places.is_empty():
            return None
        place = places[0]
        before = ids.row(place - 1) if place else None
        after = ids.row(place + 1) if place + 1 < ids.height else None
        return Neighbours(before, after, place + 1, ids.height)


def find_tables(run: ListedRun) -> AnswerTables | None:
    """Return the tables of a results directory; None before they are written."""
    if not run.has("responses.parquet", "scores.parquet"):
        return None
    estimated = run.path if run.has("estimates.parquet") else None
    return AnswerTables(run.path / "responses.parquet", run.path / "scores.parquet", estimated)


@lru_cache(maxsize=8)
def _means(directory: Path, _: tuple[Stamp, ...]) -> pl.DataFrame:
    rows = read_estimates(directory).filter(
        pl.col("factor").is_null() & (pl.col("measure") == pl.col("instrument")),
        level="stereotype",
        family="answers",
    )
    rows = join_methods(rows, "clustered", IN_PROMPTS)
    return rows.select(_MEAN).unique(_MEAN_KEYS, keep="first", maintain_order=True)


@lru_cache(maxsize=4)
def _find_words(source: AnswerTables, text: str, _: tuple[Stamp, ...]) -> pl.DataFrame:
    """Find which answers have a text in their prompt or answer, in any case of letters."""
    has_text = pl.any_horizontal(
        pl.col(name).str.to_lowercase().str.contains(text, literal=True) for name in _TEXTS
    )
    return source.scan_answers().filter(has_text.fill_null(False)).select(_ID).collect()


def choices(source: AnswerTables) -> dict[str, list[str]]:
    """Return the values by which answers can be chosen: filter → values, sorted.

    Raises InputError if a table is malformed.
    """
    files = (source.responses, *filter(None, [source.scores]))
    values = dict(_filter_values(source, stamps(*files)))
    kinds = source.means().select(verdict_kind(pl.col("verdict").cast(pl.String))).to_series()
    return {**values, "verdict": sorted(kinds.drop_nulls().unique())}


@lru_cache(maxsize=8)
def _filter_values(source: AnswerTables, _: tuple[Stamp, ...]) -> dict[str, list[str]]:
    names = [name for name in FILTERS if name != "verdict"]
    rows = source.rows(AnswerSelection()).select(names).unique().collect()
    return {name: sorted(rows[name].drop_nulls().unique()) for name in names}
