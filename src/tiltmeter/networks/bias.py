"""Bias in any number of networks, by every approach of a study."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from tiltmeter.errors import InputError, unknown
from tiltmeter.networks import emotions, stereotypes, valence
from tiltmeter.networks.contrasts import Contrast, compare_contrasts, effects
from tiltmeter.networks.network import Network
from tiltmeter.networks.setting import Setting
from tiltmeter.results.networks import ACTIVATIONS, COEFFICIENTS, EFFECTS, SENSITIVITY
from tiltmeter.stimuli.network_study import (
    APPROACHES,
    Emotions,
    NetworkStudy,
    Stereotypes,
    Valence,
    load_network_study,
)

__all__ = ["Bias", "Lexicons", "every_effect", "measure_bias", "vary_setting"]


@dataclass(frozen=True)
class Lexicons:
    """What people said about words; brought by the user.

    Parameters
    ----------
    valence
        Word → 0 (negative) to 1 (positive), from `lexicons.read_valence`.
    emotions
        Emotion → its words, from `lexicons.read_emotions`.
    """

    valence: Mapping[str, float] | None = None
    emotions: Mapping[str, Iterable[str]] | None = None

    def serve(self, approach: str) -> bool:
        """Tell whether an approach has the lexicon it needs."""
        return approach == "stereotypes" or getattr(self, approach) is not None


@dataclass(frozen=True, eq=False)
class Bias:
    """The tables of `measure_bias`; their columns stand in `frames.networks`."""

    effects: pl.DataFrame
    coefficients: pl.DataFrame
    differences: pl.DataFrame
    activations: pl.DataFrame


def measure_bias(
    networks: Sequence[Network],
    study: str | NetworkStudy = "abramski2025",
    *,
    approaches: Sequence[str] | None = None,
    lexicons: Lexicons | None = None,
    setting: Setting | None = None,
) -> Bias:
    """Measure the bias of networks, and how they differ.

    Parameters
    ----------
    networks
        With distinct names; humans are a network like others.
    study
        A shipped name, a file or a study.
    approaches
        Some of stereotypes, valence, emotions; by default all whose lexicon is there.
    lexicons
        Ratings of valence and emotions, which the approaches of that name need.
    setting
        How; by default as in the paper.

    Returns
    -------
    Bias

    Raises
    ------
    InputError
        If names are not distinct, an approach is not known, has no lexicon or no identity in the
        study, or a prime or target is no node.

    Examples
    --------
    >>> edges = pl.DataFrame({"src": ["woman", "man", "woman"], "tgt": ["kind", "leader", "man"]})
    >>> network = Network.from_edges(edges.with_columns(wt=2), name="three edges")
    >>> found = measure_bias([network], setting=Setting(missing="skip"))
    >>> found.effects.select("targets", "effect", "n").rows()
    [('female', 1.0, 1), ('male', -1.0, 1)]
    """
    loaded, known = load_network_study(study), lexicons or Lexicons()
    _check_names(networks)
    asked = _approaches(loaded, approaches, known)
    contrasts: list[Contrast] = []
    slopes, activations = [pl.DataFrame(schema=COEFFICIENTS)], [pl.DataFrame(schema=ACTIVATIONS)]
    for network in networks:
        how = (setting or Setting()).within(network)
        for key, identity in loaded.identities.items():
            about = {"study": loaded.name, "identity": key}
            if identity.approach not in asked:
                continue
            match identity:
                case Stereotypes():
                    made, levels = stereotypes.contrast(network, identity, about, how)
                    contrasts.append(made)
                    activations.append(levels)
                case Emotions():
                    felt = known.emotions or {}
                    contrasts.append(emotions.contrast(network, identity, felt, about, how))
                case Valence():
                    rated = known.valence or {}
                    slopes.append(valence.coefficients(network, identity, rated, about, how))
    found = [pl.DataFrame(schema=EFFECTS), *map(effects, contrasts)]
    return Bias(
        effects=pl.concat(found),
        coefficients=pl.concat(slopes),
        differences=compare_contrasts(contrasts),
        activations=pl.concat(activations),
    )


def vary_setting(
    network: Network,
    study: str | NetworkStudy = "abramski2025",
    *,
    approaches: Sequence[str] | None = None,
    lexicons: Lexicons | None = None,
    setting: Setting | None = None,
) -> pl.DataFrame:
    """Measure again with one thing of the setting changed at a time.

    Time steps (half to four times the default), the norm, whether edges are weighted, and the
    retention. The paper reports one setting; effects move with it, and may change sign.

    Parameters
    ----------
    network, study, approaches, lexicons, setting
        As for `measure_bias`.

    Returns
    -------
    polars.DataFrame
        Columns SENSITIVITY; the effect of a valence is the slope of its prime.
    """
    default = (setting or Setting()).within(network)
    default = replace(default, draws=0)
    frames = []
    for varied, how in _settings(default):
        found = measure_bias(
            [network], study, approaches=approaches, lexicons=lexicons, setting=how
        )
        each = every_effect(found).drop_nulls("targets")  # without joint tests
        frames.append(
            each.with_columns(varied=pl.lit(varied), weighted=pl.lit(how.spreading.weighted))
        )
    table = pl.concat(frames)
    keys = ["identity", "approach", "targets"]
    before = frames[0].select(*keys, before="effect")
    turned = (pl.col("effect") * pl.col("before") < 0).alias("turned")
    joined = table.join(before, on=keys, how="left", maintain_order="left").with_columns(turned)
    return joined.select(pl.col(name).cast(kind) for name, kind in SENSITIVITY.items())


def every_effect(found: Bias) -> pl.DataFrame:
    """Set effects and slopes out in one table.

    Parameters
    ----------
    found
        From `measure_bias`.

    Returns
    -------
    polars.DataFrame
        Of EFFECTS what names a row, its effect and its published test, and the setting. A slope is
        the effect of its prime, which stands in ``targets``; that of the joint test, where
        ``targets`` is null, is Cohen's w.
    """
    slopes = found.coefficients.select(
        *("network", "study", "identity", "approach", "p", "retention", "time_steps", "norm"),
        targets="prime",
        effect=pl.coalesce("coefficient", "effect"),
        stereotype=pl.lit(None, pl.Float64),
        alternative=pl.when(pl.col("prime").is_null())
        .then(pl.lit("greater"))
        .otherwise(pl.lit("two-sided")),
    )
    return pl.concat([found.effects.select(slopes.columns), slopes])


def _settings(default: Setting) -> list[tuple[str, Setting]]:
    how, steps = default.spreading, default.spreading.time_steps or 1
    found = [("nothing", default)]
    for share in (0.25, 0.5, 1.5, 2.0, 4.0):
        changed = max(1, round(share * steps))
        if changed != steps:
            spreading = replace(how, time_steps=changed)
            found.append(("time_steps", replace(default, spreading=spreading)))
    for retention in (0.0, 0.25, 0.5, 0.75):
        if retention != how.retention:
            spreading = replace(how, retention=retention)
            found.append(("retention", replace(default, spreading=spreading)))
    spreading = replace(how, weighted=not how.weighted)
    found.append(("weights", replace(default, spreading=spreading)))
    return found + [("norm", replace(default, norm=norm)) for norm in ("l1", "l2", "none")]


def _check_names(networks: Sequence[Network]) -> None:
    names = [network.name for network in networks]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"networks: name {twice[0]!r} stands twice; name them apart (NAME=PATH)")


def _approaches(
    study: NetworkStudy, asked: Sequence[str] | None, lexicons: Lexicons
) -> tuple[str, ...]:
    for approach in asked or ():
        if approach not in APPROACHES:
            raise InputError(unknown("approach", approach, APPROACHES))
        if not study.of(approach):
            raise InputError(f"study {study.name!r} has no identity for the approach {approach!r}")
        if not lexicons.serve(approach):
            raise InputError(
                f"approach {approach!r} needs a lexicon of {approach}; give its path "
                f"(--{approach} FILE)"
            )
    every = asked or [name for name in APPROACHES if study.of(name) and lexicons.serve(name)]
    if not every:
        raise InputError(f"study {study.name!r} needs lexicons; give their paths (--valence FILE)")
    return tuple(every)
