"""Lengths of paths against scipy's distances, other arrangements by hand, and the paper."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import polars as pl
import pytest
from scipy.sparse.csgraph import shortest_path

from clinometer_measures.networks import Network, placebos
from clinometer_measures.networks.path_lengths import measure_paths
from clinometer_measures.networks.setting import Setting
from clinometer_measures.networks.study import NetworkStudy, parse_network_study

WORDS = 200
PRIMES, FEMALE, MALE = (range(0, 6), range(6, 12), range(12, 18))
SETTING = Setting(draws=100, placebos=99)


def asking(words: list[str]) -> NetworkStudy:
    pairs = [f"{{f: {words[place]}, m: {words[place + 1]}}}" for place in PRIMES[::2]]
    f, m = (", ".join(words[place] for place in places) for places in (FEMALE, MALE))
    return parse_network_study(
        f"name: mine\nidentities:\n  gender:\n    approach: stereotypes\n"
        f"    pairs: [{', '.join(pairs)}]\n    targets: {{f: [{f}], m: [{m}]}}\n",
        "mine.yaml",
    )


def random_network(rng: np.random.Generator, more: list[tuple[str, str]] | None = None) -> Network:
    """Join words at random, some far more often than others, and by `more` edges."""
    often = rng.gamma(0.8, size=WORDS) + 0.05
    ends = rng.choice(WORDS, p=often / often.sum(), size=(500, 2))
    pairs = [(f"w{a}", f"w{b}") for a, b in [*pairwise(range(WORDS)), *ends] if a != b]
    once = sorted({(min(pair), max(pair)) for pair in [*pairs, *(more or [])]})
    frame = pl.DataFrame(once, schema=["src", "tgt"], orient="row")
    return Network.from_edges(frame.with_columns(wt=1), name="made")


def some(rng: np.random.Generator) -> list[str]:
    return [f"w{place}" for place in rng.choice(WORDS, size=18, replace=False)]


def by_hand(network: Network, words: list[str], flips: tuple[int, ...] = (1, 1, 1)) -> list[float]:
    """Give the mean difference of both sets, and of each, from scipy's distances."""
    hops = shortest_path(network.weights, unweighted=True)
    place = dict(zip(words, network.places(words), strict=True))
    means = []
    for consistent, targets in ((0, FEMALE), (1, MALE)):
        differences = []
        for target, (pair, flip) in product(targets, zip(PRIMES[::2], flips, strict=True)):
            ends = [hops[place[words[pair + side]], place[words[target]]] for side in (0, 1)]
            differences.append(flip * (ends[1 - consistent] - ends[consistent]))
        means.append(float(np.mean(differences)))
    return [sum(means) / 2, *means]


def test_the_estimate_is_the_mean_of_scipys_distances() -> None:
    rng = np.random.default_rng(1)
    network, words = random_network(rng), some(rng)
    paths = measure_paths(network, asking(words), setting=SETTING)
    rows = paths.estimates.filter(method="permutation")
    assert rows["targets"].to_list() == [None, "f", "m"]
    assert rows["estimate"].to_list() == pytest.approx(by_hand(network, words))
    assert rows["n"].to_list() == [36, 18, 18] and paths.lengths.height == 72
    assert set(paths.estimates["direction"]) == {"above"}


def test_p_counts_the_swaps_of_primes_that_give_as_much() -> None:
    rng = np.random.default_rng(2)
    network, words = random_network(rng), some(rng)
    rows = measure_paths(network, asking(words), setting=SETTING).estimates
    differences = np.array([by_hand(network, words, flips) for flips in product((1, -1), repeat=3)])
    expected = np.mean(differences >= differences[0] - 1e-9, axis=0)
    assert rows.filter(method="permutation")["p"].to_list() == pytest.approx(expected.tolist())


def test_the_interval_is_over_targets() -> None:
    """Where every target has the same difference, no draw of targets changes the mean."""
    words = [f"w{place}" for place in range(18)]
    near = [(words[prime], words[t]) for prime in PRIMES[::2] for t in FEMALE]
    near += [(words[prime], words[t]) for prime in PRIMES[1::2] for t in MALE]
    frame = pl.DataFrame([*near, ("w0", "w1")], schema=["src", "tgt"], orient="row")
    network = Network.from_edges(frame.with_columns(wt=1), name="apart")
    rows = measure_paths(network, asking(words), setting=SETTING).estimates
    interval = rows.filter(method="bootstrap")
    for name in ("estimate", "ci_low", "ci_high"):
        assert interval[name].to_list() == pytest.approx(by_hand(network, words))
    assert interval["n_clusters"].to_list() == [12, 6, 6]


@pytest.mark.parametrize("method", ["placebo", "placebo_targets"])
def test_a_placebo_is_the_difference_with_other_words(
    monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    monkeypatch.setattr(placebos, "NEAREST", 1)
    rng = np.random.default_rng(3)
    network, words = random_network(rng), some(rng)
    near = [network.words[place] for place in placebos.nearest_words(network, words)[:, 0]]
    swapped = [*near[:6], *words[6:]] if method == "placebo" else [*words[:6], *near[6:]]
    placed = measure_paths(network, asking(words), setting=SETTING).estimates.filter(method=method)
    for name in ("placebo_mean", "placebo_low", "placebo_high"):
        assert placed[name].to_list() == pytest.approx(by_hand(network, swapped))


def test_p_of_placebos_is_uniform_where_nothing_is_associated() -> None:
    rng, pooled = np.random.default_rng(4), []
    for _ in range(8):
        network = random_network(rng)
        for _ in range(10):
            estimates = measure_paths(network, asking(some(rng)), setting=SETTING).estimates
            pooled.append(estimates.filter(pl.col("targets").is_null()))
    for method in ("placebo", "placebo_targets"):
        p = pl.concat(pooled).filter(method=method)["p"].to_numpy()
        assert len(p) == 80
        # of 80 draws of .05 (.5), more than 10 (outside 28 to 52) come up less than once in 100
        assert np.count_nonzero(p <= 0.05) <= 10
        assert 28 <= np.count_nonzero(p <= 0.5) <= 52


def test_planted_short_paths_are_found() -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        words = some(rng)
        tied = [(words[(place + k) % 3 * 2 + (place >= 12)], words[place]) for place in range(6, 18)
                for k in range(2)]  # fmt: skip
        rows = measure_paths(random_network(rng, tied), asking(words), setting=SETTING).estimates
        placed = rows.filter(pl.col("p").is_not_null(), pl.col("targets").is_null())
        assert (placed["estimate"] > 0.5).all()
        assert placed.filter(pl.col("method") != "permutation")["p"].max() <= 0.02
        assert placed.filter(method="permutation")["p"].to_list() == [1 / 8]


def test_a_target_without_a_path_from_either_prime_is_left_out() -> None:
    edges = [("woman", "kind"), ("man", "boss"), ("woman", "man"), ("girl", "boy"), ("boy", "tall")]
    frame = pl.DataFrame(edges, schema=["src", "tgt"], orient="row").with_columns(wt=1)
    study = parse_network_study(
        "name: mine\nidentities:\n  gender:\n    approach: stereotypes\n"
        "    pairs: [{f: woman, m: man}, {f: girl, m: boy}]\n"
        "    targets: {f: [kind], m: [boss, tall]}\n",
        "mine.yaml",
    )
    paths = measure_paths(Network.from_edges(frame, name="two parts"), study, setting=SETTING)
    rows = paths.estimates.filter(method="permutation")
    # kind: woman 1, man 2; boss: man 1, woman 2; tall: boy 1, girl 2
    assert rows.select("targets", "estimate", "n").rows() == [
        (None, 1, 3),
        ("f", 1, 1),
        ("m", 1, 2),
    ]
    assert paths.lengths["hops"].null_count() == 6
    placed = paths.estimates.filter(method="placebo")
    assert placed["p"].null_count() == 3
    assert set(placed["note"]) == {"fewer than 50 other words to draw placebos from"}


def test_no_path_at_all_is_no_number() -> None:
    frame = pl.DataFrame({"src": ["woman", "kind"], "tgt": ["man", "boss"], "wt": [1, 1]})
    study = parse_network_study(
        "name: mine\nidentities:\n  gender:\n    approach: stereotypes\n"
        "    pairs: [{f: woman, m: man}]\n    targets: {f: [kind], m: [boss]}\n",
        "mine.yaml",
    )
    rows = measure_paths(Network.from_edges(frame, name="parted"), study, setting=SETTING).estimates
    assert rows["estimate"].null_count() == rows.height == 12
    assert rows["note"].null_count() == 0 and rows["n"].sum() == 0


def test_haikus_consistent_paths_are_shorter_as_the_paper_says(haiku: Network) -> None:
    """Figure 9 shows four pairs of it; the network of figure 8 is not released."""
    paths = measure_paths(haiku)
    hops = dict(
        paths.lengths.select(pl.concat_str("prime", "target", separator=" "), "hops").rows()
    )
    consistent = hops["feminine compassionate"], hops["masculine forceful"]
    assert max(consistent) < min(hops["feminine forceful"], hops["masculine compassionate"])
    overall = paths.estimates.filter(pl.col("targets").is_null())
    assert overall["estimate"].unique().to_list() == pytest.approx([0.384])
    ((low, high),) = overall.filter(method="bootstrap").select("ci_low", "ci_high").rows()
    variances = (
        paths.lengths.group_by("targets", "target")
        .agg(pl.col("hops").filter(pl.col("group") != pl.col("targets")).mean()
             - pl.col("hops").filter(pl.col("group") == pl.col("targets")).mean())
        .group_by("targets").agg(pl.col("hops").var() / 25)
    )  # fmt: skip
    normal = 1.96 * variances["hops"].sum() ** 0.5 / 2  # half of a normal interval
    assert (high - low) / 2 == pytest.approx(normal, rel=0.08) and low > 0.2
    assert overall.filter(method="permutation")["p"].to_list() == [1 / 32]
    assert overall.filter(pl.col("method").str.starts_with("placebo"))["p"].max() <= 0.05
