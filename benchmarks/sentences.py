"""Whether sentences that were written on two occasions tell the same of the embedded model.

Question
    Mode `likelihood` reads how probable words are after sentences that name a group. Do those of
    one occasion tell the means of those of the other, as intervals for other prompts promise?
Peer
    None; the shipped sentences are those of both occasions, none dropped for its number.
How
    SmolLM2 is asked all sentences about a few stereotypes of ``clinometer2026``. The distance of
    two means is counted in standard errors of their difference, in which sentences and words are
    random.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.measuring import Result, Value

if TYPE_CHECKING:
    import polars as pl

MODEL, STUDY = "clinometer/smollm2", "clinometer2026"
STEREOTYPES = "racism,skintone,career,age"
#: Draws of words in each sentence.
DRAWS = 2
FARTHEST, WIDEST = 2.5, 0.5

#: Instrument → its sentences of the first occasion.
FIRST = {
    "word_association": "hear mention together comes first describe often story thinking list say",
    "relative_decision": "profiles suggest everybody decided end news likely heard told best",
}

#: Stereotype, or none of their mean → estimate, standard error and width of the interval.
_Means = Mapping[str | None, tuple[float, float, float]]


def run() -> Result:
    """Ask all, and compare the means of both occasions."""
    import polars as pl

    rows: list[list[Value]] = []
    claims: dict[str, bool | None] = {}
    for instrument, names in FIRST.items():
        scores = _scores(instrument)
        is_first = pl.col("variation").is_in(names.split())
        first, second = (_means(scores.filter(part)) for part in (is_first, ~is_first))
        together = _means(scores)
        distances = []
        for key, (mean, _, width) in together.items():
            (one, error), (other, other_error) = first[key][:2], second[key][:2]
            distances.append(abs(one - other) / math.hypot(error, other_error))
            name = f"{instrument}, {key or 'mean of the four'}"
            rows.append([name, one, other, distances[-1], mean, width])
        widths = [width for _, _, width in together.values()]
        apart = f"{instrument}: at most {FARTHEST} standard errors apart"
        claims[apart] = max(distances) <= FARTHEST
        claims[f"{instrument}: mean width at most {WIDEST}"] = sum(widths) / len(widths) <= WIDEST
    return Result(
        f"Means in sentences of two occasions, {MODEL} in mode likelihood",
        ("instrument, stereotype", "first", "second", "standard errors apart", "both", "width"),
        rows,
        claims,
        [f"words of {STUDY}, {DRAWS} draws in each sentence; 95% intervals for other prompts"],
    )


def _scores(instrument: str) -> pl.DataFrame:
    """Return the scores of the few stereotypes in all sentences."""
    import clinometer as cm

    design = cm.Design(mode="likelihood", iterations=DRAWS)
    trials = cm.draw(STUDY, design, instrument=instrument, stereotypes=STEREOTYPES)
    with tempfile.TemporaryDirectory() as directory:
        scores: pl.DataFrame = cm.score(
            cm.ask(trials, MODEL, directory=Path(directory)), STUDY
        ).scores
    return scores


def _means(scores: pl.DataFrame) -> _Means:
    """Return the means of the stereotypes, and of all of them."""
    import polars as pl

    import clinometer as cm

    estimates = cm.estimate(scores).filter(
        pl.col("level").is_in(["stereotype", "model"]), range="other_prompts", method="clustered"
    )
    return {
        row["stereotype"]: (row["estimate"], row["se"], row["ci_high"] - row["ci_low"])
        for row in estimates.iter_rows(named=True)
    }
