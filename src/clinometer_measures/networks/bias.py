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
from itertools import chain, combinations
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from scipy import stats

from clinometer.errors import InputError, unknown
from clinometer.papers.library import require_statsmodels
from clinometer.results import as_estimates
from clinometer_measures.networks.approaches import (
    DIRECTIONS,
    Array,
    Contrast,
    Row,
    activate_sides,
    activations,
    adjust,
    effects,
    interval_ends,
)
from clinometer_measures.networks.lexicons import Lexicons
from clinometer_measures.networks.matched_pairs import bootstrap_effects, signed_rank_effect
from clinometer_measures.networks.network import Network, check_networks
from clinometer_measures.networks.placebos import placebo_effects, placebo_slopes
from clinometer_measures.networks.setting import FAMILY, INSTRUMENT, MEASURES, Setting
from clinometer_measures.networks.study import (
    APPROACHES,
    Identity,
    NetworkStudy,
    Stereotypes,
    Valence,
    load_network_study,
)
from clinometer_measures.networks.tables import ABSENCES, ACTIVATIONS
from clinometer_measures.networks.valence import Rated, activate_rated, slopes

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
        study, a prime or target is not a node, or valence lacks statsmodels (extra ``papers``).

    Examples
    --------
    >>> edges = pl.DataFrame({"src": ["woman", "man", "woman"], "tgt": ["kind", "leader", "man"]})
    >>> network = Network.from_edges(edges.with_columns(wt=2), name="three edges")
    >>> found = measure_bias([network], setting=Setting(missing="skip")).estimates
    >>> found.filter(method="published").select("targets", "estimate", "n").rows()
    [('female', 1.0, 1), ('male', -1.0, 1)]
    """
    loaded_study = load_network_study(study)
    rows = list[Row]()
    activation_rows = list[Row]()
    absence_rows = list[Row]()
    # Identity → its contrast in each network that has one.
    contrasts: defaultdict[str, list[Contrast]] = defaultdict(list)
    for network in _list_networks(networks):
        identities = _activate_identities(network, loaded_study, approaches, lexicons, setting)
        for key, identity, activation in identities:
            absence_rows += _absent_rows(network, loaded_study.name, key, identity)
            rows += _test_rows(activation)
            if isinstance(activation, Contrast):
                contrasts[key].append(activation)
                activation_rows += activations(activation)
                rows += placebo_effects(network, activation)
            else:
                rows += placebo_slopes(network, activation)
    for contrasts_of_identity in contrasts.values():
        rows += _differences(contrasts_of_identity)
    return Bias(
        as_estimates(rows, MEASURES, FAMILY),
        pl.DataFrame(activation_rows, schema=ACTIVATIONS),
        pl.DataFrame(absence_rows, schema=ABSENCES),
    )


def published_rows(
    network: Network,
    study: str | NetworkStudy,
    approaches: Sequence[str] | None,
    lexicons: Lexicons | None,
    setting: Setting,
) -> list[Row]:
    """Measure one network with the published tests only; rows of `results.ESTIMATES`."""
    without_draws = replace(setting, draws=0)
    loaded_study = load_network_study(study)
    identities = _activate_identities(network, loaded_study, approaches, lexicons, without_draws)
    rows = list[Row]()
    for _, _, activation in identities:
        rows += [row for row in _test_rows(activation) if row["method"] == "published"]
    return rows


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
    rows = []
    for varied, changed in _varied_settings((setting or Setting()).within(network)):
        for row in published_rows(network, study, approaches, lexicons, changed):
            if row["level"] != "identity":  # without joint tests
                rows.append({**row, "varied": varied})
    return as_estimates(rows, MEASURES, FAMILY)


def _test_rows(activation: Contrast | Rated) -> list[Row]:
    return effects(activation) if isinstance(activation, Contrast) else slopes(activation)


def _activate_identities(
    network: Network,
    study: NetworkStudy,
    approaches: Sequence[str] | None,
    lexicons: Lexicons | None,
    setting: Setting | None,
) -> Iterator[tuple[str, Identity, Contrast | Rated]]:
    """Yield each identity with the activation of its targets or, for valence, of rated words."""
    lexicons = lexicons or Lexicons()
    setting = (setting or Setting()).within(network)
    approaches = _choose_approaches(study, approaches, lexicons)
    shared = {"subject": network.name, "study": study.name, "instrument": INSTRUMENT}
    for key, identity in study.identities.items():
        if identity.approach not in approaches:
            continue
        keys: Row = {**shared, "identity": key}
        activation: Contrast | Rated
        if isinstance(identity, Valence):
            activation = activate_rated(network, identity, lexicons.valence or {}, keys, setting)
        else:
            # Stereotypes need no lexicon.
            activation = activate_sides(network, identity, lexicons.emotions or {}, keys, setting)
        yield key, identity, activation


def _absent_rows(network: Network, study: str, key: str, identity: Identity) -> Iterator[Row]:
    """List primes and targets that are not nodes, by set of targets."""
    sets = identity.targets if isinstance(identity, Stereotypes) else {None: ()}
    keys = {"network": network.name, "study": study, "identity": key}
    for name, words in sets.items():
        absent = network.absent([*identity.primes, *words])
        if absent:
            yield {**keys, "targets": name, "absent": absent}


def _varied_settings(default: Setting) -> Iterator[tuple[str, Setting]]:
    """Yield the name of each varied parameter and the changed setting."""
    spreading = default.spreading
    steps = spreading.time_steps or 1
    changes: list[tuple[str, Any]] = []
    for share in (0.25, 0.5, 1.5, 2.0, 4.0):
        length = max(1, round(share * steps))
        if length != steps:  # with few steps a share can round to the default
            changes.append(("time_steps", length))
    for retention in (0.0, 0.25, 0.5, 0.75):
        if retention != spreading.retention:
            changes.append(("retention", retention))
    changes.append(("weighted", not spreading.weighted))
    for field, value in changes:
        varied = "weights" if field == "weighted" else field
        yield varied, replace(default, spreading=replace(spreading, **{field: value}))
    for norm in ("l1", "l2", "none"):
        yield "norm", replace(default, norm=norm)


def _differences(contrasts: Sequence[Contrast]) -> list[Row]:
    """Compare the effects of each pair of networks for one identity."""
    rows: list[Row] = []
    for name in contrasts[0].sets:
        rows_of_pairs = [_difference(a, b, name) for a, b in combinations(contrasts, 2)]
        # The difference comes first; a correlation has no p.
        adjust([pair[0] for pair in rows_of_pairs], "pairs of networks of a set of targets")
        rows += chain.from_iterable(rows_of_pairs)
    return rows


def _difference(candidate: Contrast, baseline: Contrast, name: str) -> list[Row]:
    setting = candidate.setting
    baseline_targets = set(baseline.sets[name])
    shared = [word for word in candidate.sets[name] if word in baseline_targets]
    row = {
        **candidate.keys,
        "subject": None,
        "level": "targets",
        "factor": "subject",
        "baseline": baseline.keys["subject"],
        "candidate": candidate.keys["subject"],
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
    candidate_table, baseline_table = candidate.differences(shared), baseline.differences(shared)
    if len(shared) < 2 or not candidate_table.size or not baseline_table.size:
        return [{**change, "note": "fewer than two targets in both networks"}]
    change |= _difference_columns(candidate_table, baseline_table, setting)
    if candidate.primes != baseline.primes:
        return [{**change, "note": "the networks lack different primes"}]
    candidate_levels = candidate.normalised_of(shared).ravel()
    baseline_levels = baseline.normalised_of(shared).ravel()
    # A constant has no correlation.
    if np.ptp(candidate_levels) == 0 or np.ptp(baseline_levels) == 0:
        return [change]
    correlation = float(stats.spearmanr(candidate_levels, baseline_levels).statistic)
    rank = {"measure": "rank_correlation", "method": "descriptive", "estimate": correlation}
    return [change, {**row, **rank}]


def _difference_columns(candidate: Array, baseline: Array, setting: Setting) -> Row:
    """Return a difference with its bootstrap interval and two-sided p over targets.

    `candidate`, `baseline`: differences between categories, shape (targets, pairs of primes).
    """
    candidate_effect = float(signed_rank_effect(candidate.ravel()))
    baseline_effect = float(signed_rank_effect(baseline.ravel()))
    row = {
        "estimate": candidate_effect - baseline_effect,
        "candidate_estimate": candidate_effect,
        "baseline_estimate": baseline_effect,
    }
    if not setting.draws:
        return row
    # Both networks get the same draws of targets.
    draws = bootstrap_effects([candidate, baseline], draws=setting.draws, seed=setting.seed)
    change = draws[:, 0] - draws[:, 1]
    beyond = min(np.count_nonzero(change <= 0), np.count_nonzero(change >= 0))
    return {
        **row,
        **interval_ends(change, setting.confidence),
        "alternative": "two-sided",
        "p": min(1.0, 2 * (beyond + 1) / (len(change) + 1)),
        "confidence": setting.confidence,
        "n_resamples": setting.draws,
    }


def _list_networks(networks: Network | Sequence[Network]) -> Sequence[Network]:
    """Return the networks as a list; their names must be distinct."""
    # Whatever is neither list nor tuple is checked as one network: a path is no list of them.
    check_networks(*(networks if isinstance(networks, list | tuple) else [networks]))
    if isinstance(networks, Network):
        return [networks]
    names = [network.name for network in networks]
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        name = min(repeated)
        raise InputError(f"networks: name {name!r} stands twice; give distinct names (NAME=PATH)")
    return networks


def _choose_approaches(
    study: NetworkStudy, approaches: Sequence[str] | None, lexicons: Lexicons
) -> Sequence[str]:
    """Check the approaches; by default all that the study and the lexicons allow."""
    for approach in approaches or ():
        if approach not in APPROACHES:
            raise InputError(unknown("approach", approach, APPROACHES))
        if not study.identities_of(approach):
            raise InputError(f"study {study.name!r} has no identity for the approach {approach!r}")
        if not lexicons.serve(approach):
            raise InputError(
                f"approach {approach!r} needs a lexicon of {approach}; give its path "
                f"(--{approach} FILE)"
            )
    usable = [name for name in APPROACHES if study.identities_of(name) and lexicons.serve(name)]
    if not usable:
        raise InputError(f"study {study.name!r} needs lexicons; give their paths (--valence FILE)")
    used_approaches = approaches or usable
    if "valence" in used_approaches:
        require_statsmodels("approach 'valence'")
    return used_approaches
