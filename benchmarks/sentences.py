"""Whether sentences that others write tell the same of the embedded model as the shipped ones.

Question
    Mode `likelihood` reads how probable words are after sentences that name a group. Do eight
    sentences of a writer who has seen none of the shipped ones tell their means, as intervals for
    other prompts promise?
Peer
    None. Those of `sentences.yaml` are of three sittings; the shipped ones are of two occasions,
    which are compared as well. None was dropped for its number.
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

import yaml

from benchmarks.measuring import Result, Value

if TYPE_CHECKING:
    import polars as pl

    from clinometer.stimuli.study import Study

MODEL, STUDY = "clinometer/smollm2", "clinometer2026"
STEREOTYPES = "racism,skintone,career,age"
#: Draws of words in each sentence.
DRAWS = 2
FARTHEST, WIDEST = 2.5, 0.5

#: Instrument → those of its shipped sentences that are of the first occasion.
FIRST = {
    "word_association": "hear mention together comes first describe often story thinking list say",
    "relative_decision": "profiles suggest everybody decided end news likely heard told best",
}

#: Writer → instrument → name → sentence.
WRITTEN: Mapping[str, Mapping[str, Mapping[str, str]]] = yaml.safe_load(
    Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8")
)

#: Stereotype, or none of their mean → estimate, standard error and width of the interval.
_Means = Mapping[str | None, tuple[float, float, float]]


def run() -> Result:
    """Ask all, and compare the means of each writer with those of the shipped sentences."""
    rows: list[list[Value]] = []
    claims: dict[str, bool | None] = {}
    for instrument in FIRST:
        shipped, others = _by_writer(instrument)
        distances = {
            writer: {key: _distance(means[key], reference[key]) for key in means}
            for writer, (means, reference) in others.items()
        }
        for key, (mean, _, width) in shipped.items():
            name = f"{instrument}, {key or 'mean of the four'}"
            told = (value for writer, (means, _) in others.items()
                    for value in (means[key][0], distances[writer][key]))  # fmt: skip
            rows.append([name, mean, width, *told])
        for writer, apart in distances.items():
            claim = f"{instrument}, {writer}: at most {FARTHEST} standard errors apart"
            claims[claim] = max(apart.values()) <= FARTHEST
        widths = [width for _, _, width in shipped.values()]
        claims[f"{instrument}: mean width at most {WIDEST}"] = sum(widths) / len(widths) <= WIDEST
    columns = (column for writer in others for column in (writer, f"{writer}, apart"))
    return Result(
        f"Means in sentences of others, {MODEL} in mode likelihood",
        ("instrument, stereotype", "shipped", "width", *columns),
        rows,
        claims,
        [
            f"words of {STUDY}, {DRAWS} draws in each sentence; 95% intervals for other prompts",
            "apart: standard errors from the shipped ones; the second occasion, from the first",
        ],
    )


def _by_writer(instrument: str) -> tuple[_Means, dict[str, tuple[_Means, _Means]]]:
    """Return the means of the shipped sentences, and of each writer beside what they face."""
    import polars as pl

    scores = _scores(_with_all_sentences(instrument), instrument)
    name = pl.col("variation")
    written = {writer: list(texts[instrument]) for writer, texts in WRITTEN.items()}
    shipped_scores = scores.filter(~name.is_in([n for names in written.values() for n in names]))
    is_first = name.is_in(FIRST[instrument].split())
    shipped = _means(shipped_scores)
    occasions = [_means(shipped_scores.filter(part)) for part in (~is_first, is_first)]
    return shipped, {
        **{w: (_means(scores.filter(name.is_in(n))), shipped) for w, n in written.items()},
        "second occasion": (occasions[0], occasions[1]),
    }


def _with_all_sentences(instrument: str) -> Study:
    """Return the study with the sentences of all writers beside its own."""
    import clinometer as cm

    study = cm.load_study(STUDY)
    new = {name: text for texts in WRITTEN.values() for name, text in texts[instrument].items()}
    content = study.model_dump(exclude_unset=True)
    if instrument == "word_association":
        content["instruments"][instrument]["sentences"] |= new
    else:
        content["decision_sentences"][instrument] |= new
    return type(study).model_validate(content)


def _scores(study: Study, instrument: str) -> pl.DataFrame:
    """Return the scores of the few stereotypes in all sentences."""
    import clinometer as cm

    design = cm.Design(mode="likelihood", iterations=DRAWS)
    trials = cm.draw(study, design, instrument=instrument, stereotypes=STEREOTYPES)
    with tempfile.TemporaryDirectory() as directory:
        scores: pl.DataFrame = cm.score(
            cm.ask(trials, MODEL, directory=Path(directory)), study
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


def _distance(one: tuple[float, float, float], other: tuple[float, float, float]) -> float:
    """Return how many standard errors of their difference two means are apart."""
    return abs(one[0] - other[0]) / math.hypot(one[1], other[1])
