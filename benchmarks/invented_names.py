"""Invented names on the embedded model, split at random: how often a lean is shown.

Question
    The names mean nothing, so any split of them is a placebo. How often is p below .05, for the
    mean of a split over wordings, words and orders (method ``clustered``) and for its place among
    the other splits of the same words (method ``placebo``)?
Peer
    The nominal .05.
How
    SmolLM2 is asked about every pair of the 12 names of ``control_nonsense``, in every default
    wording and both orders, in forced mode, and in every sentence of mode likelihood. Its answers
    follow from the prompt, so that each question is asked once. The score of a pair changes its
    sign where the two names change sides.
    `TABLES` × `SPLITS` random splits, 6 names a side, are drawn as stereotypes of audits of each
    size, their scores put together from the recorded pairs, and estimated by `clinometer.estimate`.
    *Together*: the splits of a table are the 21 stereotypes of one study, whose variances are
    moderated. *Alone*: each is a study with one stereotype, as a negative control of an audit, and
    nothing is moderated.
    ``python -m benchmarks.invented_names DIRECTORY`` keeps the answers there, asks nothing twice,
    and saves no result.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.measuring import Result, Value, show

if TYPE_CHECKING:
    import polars as pl

    from clinometer.stimuli import Study

MODEL, POOL = "clinometer/smollm2", "control_nonsense"
SIZES = {"quick": 2, "standard": 10, "paper": 50}
TABLES, SPLITS = 10, 21
METHODS = ("clustered", "placebo")
LEVEL, MOST = 0.05, 0.07

MODES = ("forced", "likelihood")

#: Wording, marginalized name, default name, order (None: of a sentence) → score.
Recorded = Mapping[tuple[str, str, str, str | None], float]


def run() -> Result:
    """Ask, and estimate."""
    with tempfile.TemporaryDirectory() as directory:
        return measure(Path(directory) / "answers")


def measure(directory: Path) -> Result:
    """Estimate random splits from the answers in a directory, which is filled if it is empty."""
    rows: list[Sequence[Value]] = []
    claims: dict[str, bool | None] = {}
    sizes = {}
    for mode in MODES:
        recorded = _recorded(directory / mode, mode)
        sizes[mode] = sum(map(abs, recorded.values())) / len(recorded)
        for size in SIZES:
            together = _scores(size, recorded, mode)
            for how, scores in (("together", together), ("alone", _apart(together))):
                shares = _shares(scores)
                named = f"{mode}, {size}, {how}"
                rows.append([named, *shares.values()])
                claim = f"{named}: p (clustered) < {LEVEL} in at most {MOST:.0%} of splits"
                claims[claim] = shares["clustered"] <= MOST
    pairs = len(_pool()) * (len(_pool()) - 1) // 2
    return Result(
        f"Share of random splits of invented names with p < {LEVEL}, SmolLM2",
        ("mode, size, table", *METHODS, "placebo, of those with p"),
        rows,
        claims,
        [
            f"scores of {pairs} pairs of names, mean size "
            f"{', '.join(f'{mean:.3f} ({mode})' for mode, mean in sizes.items())}; "
            f"{TABLES} × {SPLITS} splits; a share of .05 has a standard error of "
            f"{(LEVEL * (1 - LEVEL) / TABLES / SPLITS) ** 0.5:.3f} where splits are independent",
        ],
    )


def _recorded(directory: Path, mode: str) -> Recorded:
    """Ask about every pair of names; give each score with the names on either side."""
    import polars as pl

    import clinometer as cm

    pool = _pool()
    study = _study([([pool[i]], [pool[j]]) for j in range(len(pool)) for i in range(j)])
    trials = cm.draw(study, cm.Design(mode=mode, iterations=2))
    scores = cm.score(cm.ask(trials, MODEL, directory=directory), study).scores
    named = scores.select("variation", "marginalized", "default", "order", "score")
    swapped = {"marginalized_first": "default_first", "default_first": "marginalized_first"}
    mirrored = named.with_columns(
        marginalized="default",
        default="marginalized",
        order=pl.col("order").replace(swapped),
        score=-pl.col("score"),
    )
    return {(*key, order): score for *key, order, score in [*named.rows(), *mirrored.rows()]}


def _pool() -> list[str]:
    return [word for side in _original() for word in side]


def _original() -> tuple[Sequence[str], Sequence[str]]:
    from clinometer.stimuli import load_study

    one = next(iter(load_study(POOL).stereotypes.values()))
    return one.marginalized, one.default


def _study(sides: Sequence[tuple[Sequence[str], Sequence[str]]]) -> Study:
    """Give the study of invented names a stereotype for each pair of sides."""
    from clinometer.stimuli import load_study

    study = load_study(POOL)
    ((name, one),) = study.stereotypes.items()
    made = {
        f"{name}{k}": one.model_copy(update={"marginalized": [*first], "default": [*second]})
        for k, (first, second) in enumerate(sides)
    }
    return study.model_copy(update={"stereotypes": made})


def _scores(size: str, recorded: Recorded, mode: str) -> pl.DataFrame:
    """Give the scores of audits of a size from the recorded pairs: a model per table of splits."""
    import polars as pl

    import clinometer as cm
    from benchmarks.trials import as_scores

    design, tables = cm.Design(mode=mode, iterations=SIZES[size]), []
    for table in range(TABLES):
        trials = cm.draw(_study(_splits(table)), design)
        keys = trials.select("variation", "marginalized", "default", "order").rows()
        scores = pl.Series([recorded[key] for key in keys])
        tables.append(as_scores(trials).with_columns(score=scores, model=pl.lit(f"table {table}")))
    return pl.concat(tables)


def _splits(table: int) -> list[tuple[list[str], list[str]]]:
    """Draw the splits of a table."""
    pool, rng = _pool(), random.Random(table)
    drawn = (rng.sample(pool, k=len(pool)) for _ in range(SPLITS))
    return [(names[: len(pool) // 2], names[len(pool) // 2 :]) for names in drawn]


def _apart(together: pl.DataFrame) -> pl.DataFrame:
    """Make a study of each stereotype."""
    import polars as pl

    return together.with_columns(study=pl.format("{} {}", "study", "stereotype"))


def _shares(scores: pl.DataFrame) -> dict[str, Value]:
    """Give the share of splits with a p below the level, by method; null is not below."""
    import clinometer as cm

    rows = cm.estimate(scores).filter(level="stereotype", measure="word_association")
    ps = {method: rows.filter(method=method)["p"] for method in METHODS}
    below = {method: (p < LEVEL).fill_null(False).mean() for method, p in ps.items()}
    known = ps["placebo"].drop_nulls()
    return {**below, "known": (known < LEVEL).mean() if len(known) else None}


if __name__ == "__main__":
    from rich.console import Console

    show(measure(Path(sys.argv[1])), Console())
