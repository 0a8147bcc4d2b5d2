"""Bias in any number of networks, by every approach of a study."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import polars as pl

from tiltmeter.errors import InputError, unknown
from tiltmeter.networks.contrasts import (
    Contrast,
    activations,
    differences,
    effects,
    emotions,
    stereotypes,
)
from tiltmeter.networks.network import Network, check_networks
from tiltmeter.networks.setting import FAMILY, INSTRUMENT, MEASURES, Setting
from tiltmeter.networks.valence import slopes
from tiltmeter.results import as_estimates
from tiltmeter.results.schemas import ABSENCES, ACTIVATIONS
from tiltmeter.stimuli import load_network_study
from tiltmeter.stimuli.network_study import (
    APPROACHES,
    Emotions,
    Identity,
    NetworkStudy,
    Stereotypes,
    Valence,
)

__all__ = ["Bias", "Lexicons", "measure_bias", "published_rows", "vary_setting"]

Row = dict[str, Any]


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


class Bias(NamedTuple):
    """Estimates, and the tables of `results.schemas` behind them."""

    estimates: pl.DataFrame
    activations: pl.DataFrame
    absences: pl.DataFrame


def measure_bias(
    networks: Network | Sequence[Network],
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
        One, or several with distinct names; humans are a network like others.
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
        `estimates`: columns of `results.ESTIMATES`, a row per network, identity, set of targets or
        prime, and method; and the differences between every two networks.

    Raises
    ------
    InputError
        If names are not distinct, an approach is not known, has no lexicon or no identity in the
        study, or a prime or target is no node.

    Examples
    --------
    >>> edges = pl.DataFrame({"src": ["woman", "man", "woman"], "tgt": ["kind", "leader", "man"]})
    >>> network = Network.from_edges(edges.with_columns(wt=2), name="three edges")
    >>> found = measure_bias([network], setting=Setting(missing="skip")).estimates
    >>> found.filter(method="published").select("targets", "estimate", "n").rows()
    [('female', 1.0, 1), ('male', -1.0, 1)]
    """
    given = _listed(networks)
    loaded = load_network_study(study)
    rows: list[Row] = []
    contrasts: list[Contrast] = []
    activated: list[Row] = []
    absent: list[Row] = []
    for network in given:
        for key, identity, made in _measured(network, loaded, approaches, lexicons, setting):
            about = {"network": network.name, "study": loaded.name, "identity": key}
            absent += ({**about, **row} for row in _absent(network, identity))
            if not isinstance(made, Contrast):
                rows += made
                continue
            contrasts.append(made)
            rows += effects(made)
            if isinstance(identity, Stereotypes):
                activated += ({**about, **row} for row in activations(made, identity.primes))
    return Bias(
        as_estimates([*rows, *differences(contrasts)], MEASURES, FAMILY),
        pl.DataFrame(activated, schema=ACTIVATIONS),
        pl.DataFrame(absent, schema=ABSENCES),
    )


def published_rows(
    network: Network,
    study: str | NetworkStudy,
    approaches: Sequence[str] | None,
    lexicons: Lexicons | None,
    setting: Setting,
) -> list[Row]:
    """Measure one network with the published tests alone; rows of `results.ESTIMATES`."""
    loaded, how = load_network_study(study), replace(setting, draws=0)
    made = (one for *_, one in _measured(network, loaded, approaches, lexicons, how))
    rows = [row for one in made for row in (effects(one) if isinstance(one, Contrast) else one)]
    return [row for row in rows if row["method"] == "published"]


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
        Columns of `results.ESTIMATES`: effects and slopes with their published test; `varied` says
        what was changed.
    """
    rows = [
        {**row, "varied": varied}
        for varied, how in _settings((setting or Setting()).within(network))
        for row in published_rows(network, study, approaches, lexicons, how)
        if row["level"] != "identity"  # without joint tests
    ]
    return as_estimates(rows, MEASURES, FAMILY)


def _measured(
    network: Network,
    study: NetworkStudy,
    approaches: Sequence[str] | None,
    lexicons: Lexicons | None,
    setting: Setting | None,
) -> Iterator[tuple[str, Identity, Contrast | list[Row]]]:
    """Yield each identity with its contrast or, of valence, its rows of estimates."""
    known, how = lexicons or Lexicons(), (setting or Setting()).within(network)
    asked = _approaches(study, approaches, known)
    for key, identity in study.identities.items():
        about: Row = {
            "subject": network.name,
            "study": study.name,
            "identity": key,
            "instrument": INSTRUMENT,
        }
        if identity.approach not in asked:
            continue
        match identity:
            case Stereotypes():
                yield key, identity, stereotypes(network, identity, about, how)
            case Emotions():
                yield key, identity, emotions(network, identity, known.emotions or {}, about, how)
            case Valence():
                yield key, identity, slopes(network, identity, known.valence or {}, about, how)


def _absent(network: Network, identity: Identity) -> Iterator[Row]:
    """List primes and targets that are no nodes, by the set of targets."""
    sets = identity.targets if isinstance(identity, Stereotypes) else {None: ()}
    for name, words in sets.items():
        if absent := network.absent([*identity.primes, *words]):
            yield {"targets": name, "absent": absent}


def _settings(default: Setting) -> Iterator[tuple[str, Setting]]:
    """Yield what is varied, and the setting with it."""
    how, steps = default.spreading, default.spreading.time_steps or 1

    def spread(varied: str, **change: Any) -> tuple[str, Setting]:
        return varied, replace(default, spreading=replace(how, **change))

    for share in (0.25, 0.5, 1.5, 2.0, 4.0):
        changed = max(1, round(share * steps))
        if changed != steps:
            yield spread("time_steps", time_steps=changed)
    for retention in (0.0, 0.25, 0.5, 0.75):
        if retention != how.retention:
            yield spread("retention", retention=retention)
    yield spread("weights", weighted=not how.weighted)
    for norm in ("l1", "l2", "none"):
        yield "norm", replace(default, norm=norm)


def _listed(given: Network | Sequence[Network]) -> Sequence[Network]:
    """List networks, each with a name of its own."""
    check_networks(*(given if isinstance(given, list | tuple) else [given]))
    networks = [given] if isinstance(given, Network) else given
    names = [network.name for network in networks]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"networks: name {twice[0]!r} stands twice; name them apart (NAME=PATH)")
    return networks


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
