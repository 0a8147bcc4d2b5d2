"""Modes and forms of a question beside each other: what may be compared with what.

Question
    The same stereotypes are asked in four response modes, and in three forms: two groups paired
    with words, two groups compared in a decision, one group judged alone. Do they put the
    stereotypes in the same order, and at the same level?
Peer
    None: each way is held against the others.
Ours
    The means per stereotype as an audit writes them, as shares of the way from neutral to the end
    of their scale, and their reliability over wordings and draws (`generalisability`).
How
    A simulated model with leans that differ between stereotypes (mean .2, sd .3) and are the same
    in every way; size standard. The embedded model: word associations in all modes, decisions where
    it is given its options; size quick. r: Pearson's, over stereotypes, with Fisher's interval; the
    most it can be is √(reliability × reliability). Difference: mean of the differences per
    stereotype, with the interval of t. Order: the interval of r lies above 0. Level: the interval
    of the difference lies within ±.1.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from scipy.stats import t as student

import clinometer as cm
from benchmarks.measuring import Result, Value
from clinometer.audits.running import Asking
from clinometer.audits.sizes import PlanOptions
from clinometer.models.opening import Connection
from clinometer.statistics.dimensions import correlate

FORMS = ("word_association", "relative_decision", "absolute_decision")
MODES = ("free", "structured", "forced", "likelihood")
CLOSED = ("forced", "likelihood")
MARGIN = 0.1
LONGEST_ANSWER_S = 3600

#: Planted alike in every way, so that all must agree.
SIMULATED = """
lean: {default: .2}
spread: {stereotype: .3, wording: .05, group: .05}
order: .1
refusals: {rate: .05, where: anywhere}
format: [lines, prose]
"""


class Way(NamedTuple):
    """One instrument in one mode, on one model."""

    instrument: str
    mode: str

    def __str__(self) -> str:
        """Name the way as a reader does."""
        return f"{self.instrument.replace('_', ' ')}, {self.mode}"


class Agreement(NamedTuple):
    """How two ways agree over the stereotypes that both have a mean of."""

    n: int
    r: float
    r_low: float
    r_high: float
    ceiling: float
    difference: float
    difference_low: float
    difference_high: float
    opposite: int  # stereotypes with opposite verdicts

    def comparable(self) -> str:
        """Say what agrees."""
        order = "order" if self.r_low > 0 else ""
        within = -MARGIN < self.difference_low and self.difference_high < MARGIN
        level = "level" if within else ""
        return " and ".join(filter(None, (order, level))) or "neither is shown"


def run() -> Result:
    """Audit both models, and compare every two ways that differ in mode or in form alone."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "differing.yaml"
        file.write_text(SIMULATED, encoding="utf-8")
        audits = {
            "simulated": [(f"simulated/{file}", FORMS, MODES, "standard")],
            "smollm2": [
                ("clinometer/smollm2", FORMS[:1], MODES, "quick"),
                ("clinometer/smollm2", FORMS[1:], CLOSED, "quick"),
            ],
        }
        estimates: dict[str, list[pl.DataFrame]] = {name: [] for name in audits}
        for name, parts in audits.items():
            for number, (model, forms, modes, size) in enumerate(parts):
                options = PlanOptions(
                    studies=("bai2025",), instruments=forms, modes=modes, controls=False
                )
                directory = Path(folder) / name / str(number)
                results = cm.audit(
                    model,
                    size=size,
                    directory=directory,
                    options=options,
                    # Of the embedded model: many answers are written side by side.
                    asking=Asking(connection=Connection(timeout_s=LONGEST_ANSWER_S)),
                    profile=False,
                )
                estimates[name].append(results.estimates)
    return compare({name: pl.concat(frames) for name, frames in estimates.items()})


def compare(estimates: Mapping[str, pl.DataFrame]) -> Result:
    """Compare the ways of each model; `estimates` are of audits, by the name of the model."""
    rows: list[Sequence[Value]] = []
    agreements = {name: agreements(frame) for name, frame in estimates.items()}
    for model, by_pair in agreements.items():
        for (first, second), agreement in by_pair.items():
            rows.append((model, str(first), str(second), *_texts(agreement)))
    # Where everything was planted alike, whatever does not agree is an error of ours.
    planted = agreements["simulated"].values()
    claims: dict[str, bool | None] = {
        "planted alike, every two ways put stereotypes in the same order": all(
            agreement.r_low > 0 for agreement in planted
        ),
        "and are at the same level, within .1": all(
            agreement.comparable().endswith("level") for agreement in planted
        ),
        "and no stereotype has opposite verdicts": not any(a.opposite for a in planted),
    }
    columns = ("model", "first", "second", "stereotypes", "r", "at most", "first − second",
               "opposite verdicts", "agree in")  # fmt: skip
    return Result("What may be compared with what", columns, rows, claims)


def _texts(agreement: Agreement) -> tuple[Value, ...]:
    return (
        agreement.n,
        f"{agreement.r:.2f} [{agreement.r_low:.2f}, {agreement.r_high:.2f}]",
        round(agreement.ceiling, 2) if agreement.ceiling else "not known",
        f"{agreement.difference:+.2f} "
        f"[{agreement.difference_low:+.2f}, {agreement.difference_high:+.2f}]",
        agreement.opposite,
        agreement.comparable(),
    )


def agreements(estimates: pl.DataFrame) -> dict[tuple[Way, Way], Agreement]:
    """Compare every two ways of a model that share the instrument or the mode."""
    means = _means(estimates)
    reliabilities = _reliabilities(estimates)
    pairs = {}
    for first, second in combinations(means, 2):
        if first.instrument == second.instrument or first.mode == second.mode:
            ceiling = math.sqrt(reliabilities.get(first, 0.0) * reliabilities.get(second, 0.0))
            pairs[first, second] = compare_ways(means[first], means[second], ceiling)
    return pairs


def _means(estimates: pl.DataFrame) -> dict[Way, pl.DataFrame]:
    """Return the means per stereotype of each way as shares of its scale, with their verdicts."""
    share = (pl.col("estimate") - pl.col("neutral")) / (pl.col("range_high") - pl.col("neutral"))
    rows = estimates.filter(
        pl.col("factor").is_null(),
        pl.col("measure") == pl.col("instrument"),
        level="stereotype",
        method="clustered",
    ).drop_nulls("estimate")
    rows = rows.select("instrument", "mode", "stereotype", "verdict", share=share)
    parts = rows.partition_by("instrument", "mode", as_dict=True, maintain_order=True)
    return {Way(*map(str, key)): part for key, part in parts.items()}


def _reliabilities(estimates: pl.DataFrame) -> dict[Way, float]:
    rows = estimates.filter(measure="generalisability").drop_nulls("estimate")
    values = rows.select("instrument", "mode", "estimate").iter_rows()
    return {Way(instrument, mode): value for instrument, mode, value in values}


def compare_ways(first: pl.DataFrame, second: pl.DataFrame, ceiling: float) -> Agreement:
    """Compare the means of two ways, matched by stereotype; ``share`` and ``verdict`` of each."""
    matched = first.join(second, on="stereotype")
    x, y = matched["share"].to_numpy(), matched["share_right"].to_numpy()
    pearson = correlate(x, y, "the means do not vary")[0]
    differences = x - y
    n = len(differences)
    if n < 2:
        nothing = (math.nan,) * 3
        return Agreement(n, *nothing, ceiling, *nothing, 0)
    mean = float(differences.mean())
    reach = float(student.ppf(0.975, n - 1) * differences.std(ddof=1) / np.sqrt(n))
    verdicts = zip(matched["verdict"], matched["verdict_right"], strict=True)
    signs = [{_sign(one), _sign(other)} for one, other in verdicts]
    r = [pearson.get(key, math.nan) for key in ("estimate", "ci_low", "ci_high")]
    opposite = signs.count({"consistent", "reversed"})
    return Agreement(n, *r, ceiling, mean, mean - reach, mean + reach, opposite)


def _sign(verdict: str | None) -> str:
    """Return the side of neutral that a verdict names."""
    return (verdict or "").split(",")[0]
