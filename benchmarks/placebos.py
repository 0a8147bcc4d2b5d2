"""Placebos of effects in networks and hidden states: whether their p is right without meaning.

Question
    Where primes, targets, pole labels or attributes are arbitrary, how often is p (placebo) at
    most .05, .2 and .5, and how often is the published p? How long do 999 placebos take?
Peer
    The published p; of association tests the permutation test of targets.
How
    Networks: Claude 3 Haiku (15,596 nodes, 64,599 edges), gender stereotypes, both sets of
    targets. 200 times the targets, and 200 times the primes, are replaced by arbitrary words of
    like degree and strength, and the results measured as if the study had named them.
    Valence: 50 times the primes of religion are replaced in the same way, five slopes each; 99
    placebos. Ratings are those of the NRC VAD lexicon.
    States: the embedded model, three layers. 200 times the pole labels of the dictionary are
    shuffled (all nine dimensions, names of women and men), and 200 times the attributes of WEAT 1
    (flowers and insects) for WEAT and CEAT (in templates), or the flowers and insects for MAC.
    Placebos: 199 each. Processor time in a process of its own. Without the released network and the
    lexicon only states are measured.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from benchmarks.measuring import Result, Value, fresh
from benchmarks.networks import HAIKU

RATINGS = HAIKU.parents[1] / "nrc" / "vad_v1" / "v.scores"
EMPTY, FEW, SEED = 200, 199, 21
#: Identities and placebos of valence, where each placebo takes a regression per prime.
IDENTITIES, SLOPES = 50, 99
LEVELS = (0.05, 0.2, 0.5)
LAYERS = ("5", "15", "25")

Shares = dict[str, list[float]]


def run() -> Result:
    columns = ("what", "processor s", *(f"p ≤ {level:g}" for level in LEVELS))
    networks = ("times", "targets", "primes") if HAIKU.exists() else ()
    networks += ("valence",) if HAIKU.exists() and RATINGS.exists() else ()
    each = (*networks, "axes", "weat", "ceat", "mac")
    measured = {what: fresh("benchmarks.placebos", what) for what in each}
    rows: list[list[Value]] = [
        [what, s, *[None] * 3] for what, s in measured.pop("times", {}).items()
    ]
    shares: Shares = {name: found for part in measured.values() for name, found in part.items()}
    rows += [[name, None, *found] for name, found in shares.items()]
    placebos = {name: found[0] for name, found in shares.items() if "placebo" in name}
    related = {name for name in placebos if "arbitrary primes: p (placebo targets)" in name}
    claims: dict[str, bool | None] = {
        # of 200 draws of .05, 18 or more come up once in a hundred times
        "p (placebo) is at most .05 in under 9% of cases without meaning": (
            max(share for name, share in placebos.items() if name not in related) < 0.09
        ),
        "beside arbitrary targets alone, arbitrary primes pass in over 25%": (
            min(placebos[name] for name in related) > 0.25 if related else None
        ),
    }
    return Result("Placebos", columns, rows, claims)


def measure(what: str) -> dict[str, Any]:
    made: dict[str, Any] = globals()[f"_{what}"]()
    return made


def _contrasts(replaced: str) -> Any:
    """Yield the network and, first, its contrast, then those with primes or targets replaced."""
    import numpy as np

    from clinometer_measures.networks.approaches import activate_sides
    from clinometer_measures.networks.loading import read_network
    from clinometer_measures.networks.setting import Setting
    from clinometer_measures.networks.study import load_network_study

    network, rng = read_network(HAIKU), np.random.default_rng(SEED)
    identity = load_network_study("abramski2025").identities["gender"]
    how = Setting(placebos=FEW if replaced else 999, draws=0).within(network)
    about = {"subject": "Haiku", "study": "abramski2025", "identity": "gender"}
    yield network, activate_sides(network, identity, {}, about, how)
    targets = [word for of in identity.targets.values() for word in of]
    words = identity.primes if replaced == "primes" else targets
    swaps = _swaps(network, words, [*identity.primes, *targets], rng)
    for _ in range(EMPTY if replaced else 0):
        swap = next(swaps)
        pairs = [{side: swap.get(w, w) for side, w in pair.items()} for pair in identity.pairs]
        targets_of = {side: [swap.get(w, w) for w in of] for side, of in identity.targets.items()}
        one = identity.model_copy(update={"pairs": pairs, "targets": targets_of})
        yield network, activate_sides(network, one, {}, about, how)


def _swaps(network: Any, words: Any, known: Any, rng: Any) -> Any:
    """Yield words like each of some words, all different and none of those known."""
    from clinometer_measures.networks.placebos import nearest_words

    near = dict(zip(known, nearest_words(network, known), strict=True))
    while True:
        swap: dict[str, str] = {}
        for word in words:
            places = [at for at in near[word] if network.words[at] not in swap.values()]
            swap[word] = network.words[rng.choice(places)]
        yield swap


def _valence() -> Shares:
    """Replace the primes of religion, and measure slopes of valence as if the study named them."""
    import numpy as np
    import polars as pl

    from clinometer_measures.networks.bias import measure_bias
    from clinometer_measures.networks.lexicons import Lexicons, read_valence
    from clinometer_measures.networks.loading import read_network
    from clinometer_measures.networks.setting import Setting
    from clinometer_measures.networks.study import load_network_study

    network, study = read_network(HAIKU), load_network_study("abramski2025")
    identity, found = study.identities["religion"], []
    lexicons = Lexicons(valence=read_valence(RATINGS))
    swaps = _swaps(network, identity.primes, identity.primes, np.random.default_rng(SEED))
    for seed in range(IDENTITIES):
        one = identity.model_copy(update={"primes": list(next(swaps).values())})
        asked = study.model_copy(update={"identities": {"religion": one}})
        how = Setting(placebos=SLOPES, seed=1_000 + seed)
        found.append(measure_bias(network, asked, lexicons=lexicons, setting=how).estimates)
    table = pl.concat(found)
    names = {"placebo": "p (placebo)", "published": "published p", "robust": "robust p"}
    return {
        f"arbitrary primes: {called}, {what} of valence": _shares(
            table.filter(method=method, measure=measure)["p"].to_numpy()
        )
        for measure, what in (("valence_slope", "slopes"), ("valence_joint", "joint test"))
        for method, called in names.items()
    }


def _times() -> dict[str, float]:
    from dataclasses import replace

    from clinometer_measures.networks.placebos import placebo_effects

    network, contrast = next(_contrasts(""))
    start = time.process_time()
    placebo_effects(network, contrast)
    both = time.process_time() - start
    few = replace(contrast, setting=replace(contrast.setting, placebos=19))
    start = time.process_time()
    placebo_effects(network, few)
    return {
        "999 arbitrary primes and 999 arbitrary targets, gender": both,
        "19 of each": time.process_time() - start,
    }


def _networks(replaced: str) -> Shares:
    from clinometer_measures.networks.approaches import effects
    from clinometer_measures.networks.placebos import placebo_effects

    found: dict[str, list[float]] = {}
    names = {"placebo": "p (placebo primes)", "placebo_targets": "p (placebo targets)"}
    names["published"] = "published p"
    contrasts = _contrasts(replaced)
    next(contrasts)
    for network, contrast in contrasts:
        for row in (*effects(contrast), *placebo_effects(network, contrast)):
            if called := names.get(row["method"]):
                name = f"arbitrary {replaced}: {called}, {row['targets']} targets"
                found.setdefault(name, []).append(row["p"])
    return {name: _shares(p) for name, p in sorted(found.items())}


def _targets() -> Shares:
    return _networks("targets")


def _primes() -> Shares:
    return _networks("primes")


def _shares(p: Any) -> list[float]:
    import numpy as np

    return [float(np.mean(np.asarray(p) <= level + 1e-9)) for level in LEVELS]


def _read(contexts: Any) -> Any:
    """Read states of the embedded model in contexts, at some layers."""
    from dataclasses import replace

    from clinometer_measures.states import open_reader

    states = open_reader("clinometer/smollm2").read(contexts)
    at = [states.layers.index(layer) for layer in LAYERS]
    return replace(states, layers=LAYERS, values=states.values[:, at])


def _axes() -> Shares:
    """Shuffle the labels of the dictionary, and measure profiles as if they were its labels."""
    from dataclasses import replace

    import polars as pl

    from clinometer_measures.states import (
        alone,
        in_templates,
        measure_profile,
        read_dictionary,
        read_words,
    )
    from clinometer_measures.states.profiles import ProfileSetting

    dictionary, names = read_dictionary(), read_words("names")
    poles, states = _read(alone(dictionary.terms)), _read(in_templates(names.all))
    of, found = {"model": "smollm2", "contexts": "none", "removed": 0}, []
    for seed in range(EMPTY):
        shuffled = pl.col("direction").shuffle(seed).over("dimension")
        other = replace(dictionary, senses=dictionary.senses.with_columns(shuffled))
        how = ProfileSetting(draws=1, placebos=FEW, seed=1_000 + seed)
        found.append(measure_profile(poles, other, states, names, of=of, setting=how).estimates)
    table = pl.concat(found).filter(measure="profile_difference", layer=LAYERS[1])
    return {
        f"shuffled poles: {called}": _shares(table.filter(method=method)["p"].to_numpy())
        for method, called in (("placebo", "p (placebo)"), ("published", "published p"))
    }


def _weat() -> Shares:
    return _tests("weat", "permutation")


def _ceat() -> Shares:
    return _tests("ceat", "random_effects")


def _mac() -> Shares:
    return _tests("mac", "permutation")


def _tests(method: str, tested: str) -> Shares:
    """Shuffle the attributes of flowers and insects (for MAC these), and test them as named."""
    from dataclasses import replace

    import numpy as np
    import polars as pl

    from clinometer_measures.states import alone, in_templates, load_tests, test_associations
    from clinometer_measures.states.word_tests import TestSetting, WordSet, test_words

    test, rng, found = load_tests("caliskan2017")[0], np.random.default_rng(SEED), []
    names = ("first", "second") if method == "mac" else ("toward", "against")
    states = _read((in_templates if method == "ceat" else alone)(test_words([test])))
    words = [word for name in names for word in getattr(test, name).words]
    of, n = {"model": "smollm2", "contexts": "none", "removed": 0}, len(words) // 2
    for seed in range(EMPTY):
        mixed = [words[at] for at in rng.permutation(len(words))]
        halves = (tuple(mixed[:n]), tuple(mixed[n:]))
        sets = {name: WordSet(name, half) for name, half in zip(names, halves, strict=True)}
        how = TestSetting(draws=0, drawn_partitions=1_000, samples=100, placebos=FEW, seed=seed)
        one = replace(test, **sets)
        found.append(test_associations(states, [one], of=of, method=method, setting=how).estimates)
    table = pl.concat(found).filter(layer=LAYERS[1], alternative="two-sided")
    what = f"{method.upper()}, shuffled {'groups' if method == 'mac' else 'attributes'}"
    return {
        f"{what}: {called}": _shares(table.filter(method=name)["p"].to_numpy())
        for name, called in (("placebo", "p (placebo)"), (tested, "p of the test"))
    }


if __name__ == "__main__":
    print(json.dumps(measure(*sys.argv[1:])))
