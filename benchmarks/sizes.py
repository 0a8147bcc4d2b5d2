"""What the sizes of an audit can tell, as `clinometer power` promises before a model is asked.

Question
    From which distance from neutral on is a mean told with probability .8, at each size?
Peer
    None; `planning` holds what is promised against simulated answers.
How
    `clinometer.power` for openai/gpt-4o, which answers in free text, with the shipped components
    of variance. A row per study and instrument; of stereotypes, categories and dimensions the
    median, and none where half of them cannot be told.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

import clinometer as cm
from benchmarks.measuring import Result, Value
from clinometer.audits.sizes import PlanOptions

MODEL = "openai/gpt-4o"
LEVELS = ("stereotype", "category", "model")
#: Size, and the studies and instruments that are named (none: what the size asks).
PLANS = (
    ("quick", PlanOptions()),
    ("standard", PlanOptions()),
    ("paper", PlanOptions()),
    *(
        (size, PlanOptions(("bai2025",), ("word_association", "relative_decision"), controls=True))
        for size in ("quick", "standard")
    ),
    *(
        (size, PlanOptions((study,), ("word_association",), controls=True))
        for size, study in (("quick", "clinometer2026_content"), ("standard", "mist2025"))
    ),
)


#: Explicit measures are asked beside them and make the page larger.
INSTRUMENTS = ("word_association", "relative_decision", "affective_attribution")


def run() -> Result:
    tables = [
        (f"{size}, {', '.join(options.studies) or 'all'}",
         cm.power(MODEL, size=size, options=options))
        for size, options in PLANS
    ]  # fmt: skip
    return Result(
        "Leans that are told with probability 0.8, by the variances of GPT-4o",
        ("size, named", "study, instrument", "trials", *LEVELS, "control beyond the margin"),
        [row for name, table in tables for row in rows(name, table)],
        notes=["distance from neutral in other prompts; control: a positive one, from where on"],
    )


def rows(name: str, table: pl.DataFrame) -> Iterator[list[Value]]:
    """Yield a row per study and instrument of a prediction."""
    predicted = table.filter(
        pl.col("range") == "other_prompts", pl.col("instrument").is_in(INSTRUMENTS)
    )
    for (study, instrument), means in predicted.group_by(
        "study", "instrument", maintain_order=True
    ):
        studied = means.filter(pl.col("control").is_null())
        controls = means.filter(pl.col("control") == "positive", level="stereotype")
        yield [
            name,
            f"{study}, {instrument}",
            studied.filter(level="model")["n"].sum() or controls["n"].sum(),
            *(studied.filter(level=level)["smallest_effect"].median() for level in LEVELS),
            controls["smallest_beyond"].median(),
        ]
