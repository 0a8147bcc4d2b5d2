"""Bias in one or more networks, by every approach of a study, and differences between networks.

A difference is candidate − baseline over the targets that both networks have: −2 to 2, neutral 0,
with the same stereotype-consistent side as the effect. The network given first is the candidate.
Interval and p come from a bootstrap over targets. Both networks get the same samples, so variation
that they share cancels. If both have the same primes, another row gives the correlation of their
activations over pairs of prime and target.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from scipy import stats

from clinometer.errors import InputError, unknown
from clinometer.families.networks.approaches import (
    DIRECTIONS,
    Array,
    Contrast,
    Rated,
    Row,
    activate_rated,
    activate_sides,
    activations,
    adjust,
    effects,
    ends,
    slopes,
)
from clinometer.families.networks.lexicons import Lexicons
from clinometer.families.networks.network import Network, check_networks
from clinometer.families.networks.placebos import placebo_effects, placebo_slopes
from clinometer.families.networks.setting import FAMILY, INSTRUMENT, MEASURES, Setting
from clinometer.families.networks.study import (
    APPROACHES,
    Identity,
    NetworkStudy,
    Stereotypes,
    Valence,
    load_network_study,
)
from clinometer.families.networks.tables import ABSENCES, ACTIVATIONS
from clinometer.results import as_estimates
from clinometer.statistics.two_samples import bootstrap_effects, signed_rank_effect

__all__ = ["Bias", "measure_bias", "published_rows", "vary_setting"]


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
        One network, or several with distinct names. A network of human associations is one of them.
    study
        A shipped name, a file or a study.
    approaches
        Some of stereotypes, valence, emotions; by default all whose lexicon is given.
    lexicons
        Ratings of valence and emotions, needed by the approaches of the same names.
    setting
        How bias is measured; by default as in the paper.

    Returns
    -------
    Bias
        `estimates`: columns of `results.ESTIMATES`, a row per network, identity, set of targets or
        prime, and method; and the differences between each pair of networks.

    Raises
    ------
    InputError
        If names are not distinct, an approach is unknown or lacks its lexicon or an identity in the
        study, or a prime or target is not a node.

    Examples
    --------
    >>> edges = pl.DataFrame({"src": ["woman", "man", "woman"], "tgt": ["kind", "leader", "man"]})
    >>> network = Network.from_edges(edges.with_columns(wt=2), name="three edges")
    >>> found = measure_bias([network], setting=Setting(missing="skip")).estimates
    >>> found.filter(method="published").select("targets", "estimate", "n").rows()
    [('female', 1.0, 1), ('male', -1.0, 1)]
    """
    listed, loaded = _listed(networks), load_network_study(study)
    rows, activated, absent = list[Row](), list[Row](), list[Row]()
    contrasts: defaultdict[str, list[Contrast]] = defaultdict(list)
    for network in listed:
        for key, identity, made in _measured(network, loaded, approaches, lexicons, setting):
            absent += _absent(network, loaded.name, key, identity)
            rows += _tested(made)
            if isinstance(made, Contrast):
                contrasts[key].append(made)
                activated += activations(made)
                rows += placebo_effects(network, made)
            else:
                rows += placebo_slopes(network, made)
    rows += (row for group in contrasts.values() for row in _differences(group))
    return Bias(
        as_estimates(rows, MEASURES, FAMILY),
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
    """Measure one network with the published tests only; rows of `results.ESTIMATES`."""
    loaded, how = load_network_study(study), replace(setting, draws=0)
    measured = _measured(network, loaded, approaches, lexicons, how)
    rows = (row for *_, made in measured for row in _tested(made))
    return [row for row in rows if row["method"] == "published"]


def vary_setting(
    network: Network,
    study: str | NetworkStudy = "abramski2025",
    *,
    approaches: Sequence[str] | None = None,
    lexicons: Lexicons | None = None,
    setting: Setting | None = None,
) -> pl.DataFrame:
    """Measure bias repeatedly, changing one parameter of the setting at a time.

    Varies time steps (half to four times the default), the norm, weighted or unweighted edges, and
    retention. The paper reports one setting; effects depend on it and may change sign.

    Parameters
    ----------
    network, study, approaches, lexicons, setting
        As for `measure_bias`.

    Returns
    -------
    polars.DataFrame
        Columns of `results.ESTIMATES`: effects and slopes with their published test; `varied` names
        the parameter that was changed.
    """
    rows = [
        {**row, "varied": varied}
        for varied, how in _settings((setting or Setting()).within(network))
        for row in published_rows(network, study, approaches, lexicons, how)
        if row["level"] != "identity"  # without joint tests
    ]
    return as_estimates(rows, MEASURES, FAMILY)


def _tested(made: Contrast | Rated) -> list[Row]:
    return effects(made) if isinstance(made, Contrast) else slopes(made)


def _measured(
    network: Network,
    study: NetworkStudy,
    approaches: Sequence[str] | None,
    lexicons: Lexicons | None,
    setting: Setting | None,
) -> Iterator[tuple[str, Identity, Contrast | Rated]]:
    """Yield each identity with the activation of its targets or, for valence, of rated words."""
    known, how = lexicons or Lexicons(), (setting or Setting()).within(network)
    asked = _approaches(study, approaches, known)
    shared = {"subject": network.name, "study": study.name, "instrument": INSTRUMENT}
    for key, identity in study.identities.items():
        if identity.approach not in asked:
            continue
        about: Row = {**shared, "identity": key}
        made: Contrast | Rated
        if isinstance(identity, Valence):
            made = activate_rated(network, identity, known.valence or {}, about, how)
        else:
            made = activate_sides(network, identity, known.emotions or {}, about, how)
        yield key, identity, made


def _absent(network: Network, study: str, key: str, identity: Identity) -> Iterator[Row]:
    """List primes and targets that are not nodes, by set of targets."""
    sets = identity.targets if isinstance(identity, Stereotypes) else {None: ()}
    about = {"network": network.name, "study": study, "identity": key}
    for name, words in sets.items():
        if absent := network.absent([*identity.primes, *words]):
            yield {**about, "targets": name, "absent": absent}


def _settings(default: Setting) -> Iterator[tuple[str, Setting]]:
    """Yield the name of each varied parameter and the changed setting."""
    how, steps = default.spreading, default.spreading.time_steps or 1
    lengths = [max(1, round(share * steps)) for share in (0.25, 0.5, 1.5, 2.0, 4.0)]
    changes: list[tuple[str, Any]] = [
        *(("time_steps", length) for length in lengths if length != steps),
        *(("retention", kept) for kept in (0.0, 0.25, 0.5, 0.75) if kept != how.retention),
        ("weighted", not how.weighted),
    ]
    for field, value in changes:
        varied = "weights" if field == "weighted" else field
        yield varied, replace(default, spreading=replace(how, **{field: value}))
    for norm in ("l1", "l2", "none"):
        yield "norm", replace(default, norm=norm)


def _differences(contrasts: Sequence[Contrast]) -> list[Row]:
    """Compare the effects of each pair of networks for one identity."""
    rows: list[Row] = []
    for name in contrasts[0].sets:
        pairs = [_difference(a, b, name) for a, b in combinations(contrasts, 2)]
        adjust([pair[0] for pair in pairs], "pairs of networks of a set of targets")
        rows += (row for pair in pairs for row in pair)
    return rows


def _difference(candidate: Contrast, baseline: Contrast, name: str) -> list[Row]:
    theirs, setting = set(baseline.sets[name]), candidate.setting
    shared = [word for word in candidate.sets[name] if word in theirs]
    row = {
        **candidate.about,
        "subject": None,
        "level": "targets",
        "factor": "subject",
        "baseline": baseline.about["subject"],
        "candidate": candidate.about["subject"],
        "targets": name,
        "n_clusters": len(shared),
        "clustered_by": "target",
    }
    change = {
        **row,
        "range_low": -2.0,
        "range_high": 2.0,
        "direction": DIRECTIONS[candidate.signs.get(name, 0)],
        "method": "bootstrap" if setting.draws else "descriptive",
    }
    tables = [one.differences(shared) for one in (candidate, baseline)]
    if len(shared) < 2 or not all(table.size for table in tables):
        return [{**change, "note": "fewer than two targets in both networks"}]
    change |= _compared(tables, setting)
    if candidate.primes != baseline.primes:
        return [{**change, "note": "the networks lack different primes"}]
    one, other = candidate.levels(shared).ravel(), baseline.levels(shared).ravel()
    if np.ptp(one) == 0 or np.ptp(other) == 0:
        return [change]
    correlation = float(stats.spearmanr(one, other).statistic)
    alike = {"measure": "rank_correlation", "method": "descriptive", "estimate": correlation}
    return [change, {**row, **alike}]


def _compared(tables: Sequence[Array], setting: Setting) -> Row:
    """Return a difference with its bootstrap interval and two-sided p over targets."""
    one, other = (float(signed_rank_effect(table.ravel())) for table in tables)
    row = {"estimate": one - other, "candidate_estimate": one, "baseline_estimate": other}
    if not setting.draws:
        return row
    draws = bootstrap_effects([*tables], draws=setting.draws, seed=setting.seed)
    change = draws[:, 0] - draws[:, 1]
    beyond = min(np.count_nonzero(change <= 0), np.count_nonzero(change >= 0))
    return {
        **row,
        **ends(change, setting.confidence),
        "alternative": "two-sided",
        "p": min(1.0, 2 * (beyond + 1) / (len(change) + 1)),
        "confidence": setting.confidence,
        "n_resamples": setting.draws,
    }


def _listed(given: Network | Sequence[Network]) -> Sequence[Network]:
    """Return the networks as a list; their names must be distinct."""
    check_networks(*(given if isinstance(given, list | tuple) else [given]))
    networks = [given] if isinstance(given, Network) else given
    names = [network.name for network in networks]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        name = min(twice)
        raise InputError(f"networks: name {name!r} stands twice; give distinct names (NAME=PATH)")
    return networks


def _approaches(
    study: NetworkStudy, asked: Sequence[str] | None, lexicons: Lexicons
) -> Sequence[str]:
    """Check the approaches; by default all that the study and the lexicons allow."""
    for approach in asked or ():
        if approach not in APPROACHES:
            raise InputError(unknown("approach", approach, APPROACHES))
        if not study.identities_of(approach):
            raise InputError(f"study {study.name!r} has no identity for the approach {approach!r}")
        if not lexicons.serve(approach):
            raise InputError(
                f"approach {approach!r} needs a lexicon of {approach}; give its path "
                f"(--{approach} FILE)"
            )
    every = asked or [
        name for name in APPROACHES if study.identities_of(name) and lexicons.serve(name)
    ]
    if not every:
        raise InputError(f"study {study.name!r} needs lexicons; give their paths (--valence FILE)")
    return every
