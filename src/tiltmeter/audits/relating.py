"""Scores of word associations, set out to be related to hidden states."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from tiltmeter.asking.plan import Plan, load_plan
from tiltmeter.errors import InputError
from tiltmeter.instruments.catalogue import INSTRUMENTS
from tiltmeter.modes import MODES
from tiltmeter.results import SCORES
from tiltmeter.results.tables import scan_table
from tiltmeter.states.relation import TRIAL_WORDS
from tiltmeter.stimuli import word_key

__all__ = ["ScoredAnswers", "read_answers", "stereotype_name"]

#: Controls are no stereotypes: what they show is known beforehand.
_CONTROL = "control_"


@dataclass(frozen=True, eq=False)
class ScoredAnswers:
    """Scored answers of models.

    `scores` has `model`, `stereotype`, `trial`, `score` and `decision`; a stereotype is named with
    its study and dimension, as in ``mist2025/African.competence``. `words` has columns TRIAL_WORDS,
    or is None where these are not known. `mode`: in which answers were given.
    """

    scores: pl.DataFrame
    words: pl.DataFrame | None
    mode: str

    @property
    def studies(self) -> tuple[str, ...]:
        """The studies whose stereotypes were asked about."""
        named = self.scores["stereotype"].str.split("/").list.first()
        return tuple(named.unique(maintain_order=True))

    @property
    def all_words(self) -> list[str]:
        """The words of all trials, each once."""
        if self.words is None:
            return []
        lists = pl.concat([self.words[name].explode() for name in ("tied", "counter")])
        groups = pl.concat([self.words[name] for name in ("marginalized", "default")])
        return pl.concat([groups, lists]).unique(maintain_order=True).to_list()


def read_answers(path: Path) -> ScoredAnswers:
    """Read scored answers of a results directory, whose trials are known, or a table of scores.

    Those without an intervention, in one mode: free text where there is any, else the structured
    one, else forced choices. Raises InputError if there are no scores of word associations,
    PlanError if a directory holds no plan.
    """
    table = path / "scores.parquet" if path.is_dir() else path
    associations, decided = _measures()
    frame = scan_table(table, SCORES).filter(pl.col("intervention").fill_null("none") == "none")
    controls = pl.col("study").str.starts_with(_CONTROL)
    answers = frame.filter(pl.col("instrument").is_in(associations), ~controls).collect()
    if answers.is_empty():
        raise InputError(f"{table}: no scores of word associations; ask for some first")
    mode = next((mode for mode in MODES if mode in answers["mode"]), None)  # never pooled
    chosen = answers.filter(pl.col("mode").eq_missing(pl.lit(mode)))
    decisions = (
        frame.filter(pl.col("instrument").is_in(decided))
        .select("model", "trial_id", "variation", decision="score")
        .collect()
        .unique(["model", "trial_id", "variation"], keep="first")
    )
    joined = chosen.join(decisions, on=["model", "trial_id", "variation"], how="left")
    scores = joined.select("model", stereotype_name(), _trial(), "score", "decision")
    scores = scores.unique(["model", "stereotype", "trial"], keep="first")
    words = _words(load_plan(path)) if path.is_dir() else None
    return ScoredAnswers(scores, words, str(mode))


def _measures() -> tuple[list[str], list[str]]:
    """Name the measures that pair words, and those of decisions in the same answers."""
    pairing = [(one.paired, one.measures) for one in INSTRUMENTS.values() if one.paired]
    return (
        [paired.name for paired, _ in pairing],
        [m.name for paired, measures in pairing for m in measures if m != paired],
    )


def stereotype_name() -> pl.Expr:
    """Name a stereotype with its study and dimension, as in ``mist2025/African.competence``."""
    named = pl.concat_str("stereotype", "dimension", separator=".", ignore_nulls=True)
    return pl.concat_str("study", named, separator="/", ignore_nulls=True).alias("stereotype")


def _trial() -> pl.Expr:
    parts = [pl.col(name).cast(pl.String) for name in ("trial_id", "variation", "iteration")]
    return pl.concat_str(parts, separator=" ", ignore_nulls=True).alias("trial")


def _words(plan: Plan) -> pl.DataFrame:
    """Give the words of each trial, parted into tied and counter."""
    studies = {part.study.name: part.study for part in plan.selections}
    trials = plan.trials().filter(pl.col("attributes").list.len() > 0)
    rows = []
    parts: dict[tuple[str, ...], tuple[set[str], set[str]]] = {}
    columns = ("study", "stereotype", "variation", "dimension", "attributes")
    asked = trials.select(*columns, "marginalized", "default")
    named = trials.select(stereotype_name(), _trial())
    for (study, key, variation, dimension, attributes, first, second), (stereotype, trial) in zip(
        asked.iter_rows(), named.iter_rows(), strict=True
    ):
        cell = (study, key, variation, dimension)
        if cell not in parts:
            own = studies[study].words(key, variation, dimension)
            parts[cell] = ({*map(word_key, own.tied)}, {*map(word_key, own.counter)})
        tied, counter = ([w for w in attributes if word_key(w) in half] for half in parts[cell])
        if first and second and tied and counter:
            rows.append((stereotype, trial, first, second, tied, counter))
    return pl.DataFrame(rows, schema=TRIAL_WORDS, orient="row")
