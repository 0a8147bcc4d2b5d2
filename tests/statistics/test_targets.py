import numpy as np
import polars as pl

from tiltmeter.results import SCORES
from tiltmeter.statistics.summaries import NEVER_POOLED

SIDES = (-1.0, 1.0)

KEPT = dict.fromkeys(NEVER_POOLED, "x")


def crossed(stereotypes: int = 8, wordings: int = 4, draws: int = 6, models: int = 1):
    """Return the design of models × stereotypes × wordings × draws, as for `targets.means`.

    Each stereotype has three marginalized and two default words, crossed in its draws.
    """
    axes = np.mgrid[:models, :stereotypes, :wordings, :draws]
    model, stereotype, wording, draw = (axis.ravel() for axis in axes)
    word = pl.col("stereotype") + " " + (pl.col("draw") % 3).cast(pl.String)
    return pl.DataFrame(
        {
            "model": [f"m{i}" for i in model],
            "category": [f"c{i % 2}" for i in stereotype],
            "stereotype": [f"s{i}" for i in stereotype],
            "variation": [f"v{i}" for i in wording],
            "draw": draw,
            "n_scored": 2,
        }
    ).with_columns(
        marginalized=word,
        default=pl.col("stereotype") + pl.format(" {}", pl.col("draw") // 3 % 2),
        **{name: pl.lit(value) for name, value in KEPT.items()},
    )


def effects(rng: np.random.Generator, units: pl.DataFrame, *factor: str) -> np.ndarray:
    """Draw a normal effect for each combination of levels, for each row its own."""
    codes = units.select(pl.struct(factor).rank("dense")).to_series().to_numpy()
    return rng.normal(size=codes.max() + 1)[codes]


#: Effects, each of sd .1 in simulations.
EFFECTS = (
    ("model", "variation"),
    ("model", "stereotype", "variation"),
    ("model", "marginalized"),
    ("model", "default"),
    ("model", "stereotype", "draw"),
    ("model", "stereotype", "variation", "draw"),
)


def simulated(models: int, mean: float = 0.2, seed: int = 0) -> pl.DataFrame:
    units, rng = crossed(models=models), np.random.default_rng(seed)
    noise = 0.1 * sum(effects(rng, units, *factor) for factor in EFFECTS)
    return units.with_columns(mean=pl.Series(mean + noise))


def as_scores(units: pl.DataFrame) -> pl.DataFrame:
    """Return both orders of each mirrored pair, with the same score."""
    named = units.with_row_index("pair_id").with_columns(
        pl.col("pair_id").cast(pl.String),
        iteration="draw",
        score="mean",
        instrument=pl.lit("word_association"),
    )
    orders = pl.DataFrame({"order": ["marginalized_first", "default_first"]})
    both = named.join(orders, how="cross")
    return both.select(
        (pl.col(c) if c in both.columns else pl.lit(None)).cast(t).alias(c)
        for c, t in SCORES.items()
    )
