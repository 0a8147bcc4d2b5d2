"""The estimates of networks as the sections show them: a row each, all its methods in it."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from tiltmeter.results import beside

__all__ = ["estimate_frames"]

#: Measure → the approach to bias that it belongs to.
_APPROACHES = {
    "activation_effect": "stereotypes",
    "valence_slope": "valence",
    "valence_joint": "valence",
    "emotion_effect": "emotions",
}
_EFFECTS = ("activation_effect", "emotion_effect")
_INTERVAL = ("ci_low", "ci_high", "confidence")
#: What tells the absent words of one estimate from those of another.
_ABOUT = ("network", "study", "identity", "targets")


def estimate_frames(
    estimates: pl.DataFrame, details: Mapping[str, pl.DataFrame]
) -> dict[str, pl.DataFrame]:
    """Set out the estimates of networks.

    Parameters
    ----------
    estimates
        Columns of `results.ESTIMATES`, of networks.
    details
        The detail tables of networks, by name.

    Returns
    -------
    dict
        Name → frame. `network` is the subject, `approach` what the measure belongs to, `missing`
        the absent words, `ci_low` and `ci_high` those of the method that gives an interval. Of
        other methods columns are named as ``p_permutation``.
    """
    named = estimates.with_columns(
        approach=pl.col("measure").replace_strict(
            _APPROACHES, default=None, return_dtype=pl.String
        ),
        network="subject",
    )
    own = named.filter(pl.col("factor").is_null(), pl.col("varied").is_null())
    missing = details["network_absences"].rename({"absent": "missing"})
    nodes = details["networks"].select("network", n_nodes="nodes")
    of_networks = {
        "network_effects": _effects(own, missing),
        "network_coefficients": _coefficients(own, missing).join(
            nodes.unique("network"), on="network", how="left", maintain_order="left"
        ),
        "network_chance": _rewired(own),
        "network_sensitivity": _varied(named, own),
        "network_priming": _priming(own, missing),
    }
    return {
        **{name: frame.drop("baseline", "candidate") for name, frame in of_networks.items()},
        "network_differences": _differences(named),
    }


def _effects(own: pl.DataFrame, missing: pl.DataFrame) -> pl.DataFrame:
    drawn = beside(
        own.filter(pl.col("measure").is_in(_EFFECTS)),
        "published",
        {"permutation": ["p", "n_resamples", "note"], "bootstrap": [*_INTERVAL, "n_clusters"]},
    ).with_columns(
        *(pl.col(f"{name}_bootstrap").alias(name) for name in (*_INTERVAL, "n_clusters")),
        note=pl.coalesce("note", "note_permutation"),
    )
    # absent primes of emotions stand once, under no set of targets
    of_set = pl.when(approach="stereotypes").then("targets").alias("set")
    return (
        drawn.with_columns(of_set)
        .join(missing.rename({"targets": "set"}), on=["network", "study", "identity", "set"],
              how="left", nulls_equal=True, maintain_order="left")
        .drop("set")
    )  # fmt: skip


def _coefficients(own: pl.DataFrame, missing: pl.DataFrame) -> pl.DataFrame:
    fitted = beside(
        own.filter(approach="valence"), "published", {"robust": ["p", *_INTERVAL]}
    ).with_columns(pl.col(f"{name}_robust").alias(name) for name in _INTERVAL)
    return fitted.join(
        missing, on=list(_ABOUT), how="left", nulls_equal=True, maintain_order="left"
    )


def _differences(named: pl.DataFrame) -> pl.DataFrame:
    """Set out differences between networks, and the correlation of their activations."""
    of_networks = named.filter(factor="subject").drop("network")
    keys = ["study", "identity", "targets", "baseline", "candidate"]
    correlations = of_networks.filter(measure="rank_correlation").select(
        *keys, correlation="estimate"
    )
    return of_networks.filter(pl.col("measure").is_in(_EFFECTS)).join(
        correlations, on=keys, how="left", nulls_equal=True, maintain_order="left"
    )


def _rewired(own: pl.DataFrame) -> pl.DataFrame:
    """Set estimates beside those of rewired networks; of valence, `targets` has the prime."""
    keys = ["network", "study", "identity", "targets", "prime"]
    alarms = own.filter(measure="false_alarm_rate").select(*keys, false_alarms="estimate")
    rewired = beside(own.drop_nulls("approach"), "rewired", {"published": ["p"]})
    return rewired.join(
        alarms, on=keys, how="left", nulls_equal=True, maintain_order="left"
    ).with_columns(targets=pl.coalesce("targets", "prime"))


def _varied(named: pl.DataFrame, own: pl.DataFrame) -> pl.DataFrame:
    """List the estimates by default and, where there are any, under other settings."""
    varied = named.drop_nulls("varied")
    keys = ["network", "study", "identity", "measure", "targets", "prime"]
    default = own.filter(method="published").join(varied, on=keys, how="semi", nulls_equal=True)
    every = pl.concat([default.with_columns(varied=pl.lit("nothing")), varied])
    return every.with_columns(targets=pl.coalesce("targets", "prime"))


def _priming(own: pl.DataFrame, missing: pl.DataFrame) -> pl.DataFrame:
    """Set out the priming check, a row per network."""
    effect = own.filter(measure="priming_effect").select("network", effect="estimate", effect_p="p")
    return (
        own.filter(measure="priming_correlation")
        .join(effect, on="network", how="left", maintain_order="left")
        .join(missing.filter(pl.col("identity").is_null()).select("network", "missing"),
              on="network", how="left", maintain_order="left")
        .rename({"estimate": "correlation"})
    )  # fmt: skip
