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
HOW = Setting(draws=100, placebos=99)


def asking(words: list[str]) -> NetworkStudy:
    pairs = [f"{{f: {words[at]}, m: {words[at + 1]}}}" for at in PRIMES[::2]]
    f, m = (", ".join(words[at] for at in of) for of in (FEMALE, MALE))
    return parse_network_study(
        f"name: mine\nidentities:\n  gender:\n    approach: stereotypes\n"
        f"    pairs: [{', '.join(pairs)}]\n    targets: {{f: [{f}], m: [{m}]}}\n",
        "mine.yaml",
    )


def made_up(rng: np.random.Generator, more: list[tuple[str, str]] | None = None) -> Network:
    """Join words at random, some far more often than others, and by `more` edges."""
    often = rng.gamma(0.8, size=WORDS) + 0.05
    drawn = rng.choice(WORDS, p=often / often.sum(), size=(500, 2))
    pairs = [(f"w{a}", f"w{b}") for a, b in [*pairwise(range(WORDS)), *drawn] if a != b]
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
    for own, targets in ((0, FEMALE), (1, MALE)):
        differences = []
        for target, (pair, flip) in product(targets, zip(PRIMES[::2], flips, strict=True)):
            ends = [hops[place[words[pair + side]], place[words[target]]] for side in (0, 1)]
            differences.append(flip * (ends[1 - own] - ends[own]))
        means.append(float(np.mean(differences)))
    return [sum(means) / 2, *means]


def test_the_estimate_is_the_mean_of_scipys_distances() -> None:
    rng = np.random.default_rng(1)
    network, words = made_up(rng), some(rng)
    found = measure_paths(network, asking(words), setting=HOW)
    rows = found.estimates.filter(method="permutation")
    assert rows["targets"].to_list() == [None, "f", "m"]
    assert rows["estimate"].to_list() == pytest.approx(by_hand(network, words))
    assert rows["n"].to_list() == [36, 18, 18] and found.lengths.height == 72
    assert set(found.estimates["direction"]) == {"above"}


def test_p_counts_the_swaps_of_primes_that_give_as_much() -> None:
    rng = np.random.default_rng(2)
    network, words = made_up(rng), some(rng)
    rows = measure_paths(network, asking(words), setting=HOW).estimates
    every = np.array([by_hand(network, words, flips) for flips in product((1, -1), repeat=3)])
    expected = np.mean(every >= every[0] - 1e-9, axis=0)
    assert rows.filter(method="permutation")["p"].to_list() == pytest.approx(expected.tolist())


def test_the_interval_is_over_targets() -> None:
    """Where every target has the same difference, no draw of targets changes the mean."""
    words = [f"w{place}" for place in range(18)]
    near = [(words[prime], words[t]) for prime in PRIMES[::2] for t in FEMALE]
    near += [(words[prime], words[t]) for prime in PRIMES[1::2] for t in MALE]
    frame = pl.DataFrame([*near, ("w0", "w1")], schema=["src", "tgt"], orient="row")
    network = Network.from_edges(frame.with_columns(wt=1), name="apart")
    rows = measure_paths(network, asking(words), setting=HOW).estimates
    interval = rows.filter(method="bootstrap")
    for name in ("estimate", "ci_low", "ci_high"):
        assert interval[name].to_list() == pytest.approx(by_hand(network, words))
    assert interval["n_clusters"].to_list() == [12, 6, 6]


@pytest.mark.parametrize("method", ["placebo", "placebo_targets"])
def test_a_placebo_is_the_difference_with_other_words(
    monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    monkeypatch.setattr(placebos, "NEAREST", 1)
    monkeypatch.setattr("clinometer_measures.networks.path_lengths.NEAREST", 1)
    rng = np.random.default_rng(3)
    network, words = made_up(rng), some(rng)
    near = [network.words[at] for at in placebos.nearest_words(network, words)[:, 0]]
    others = [*near[:6], *words[6:]] if method == "placebo" else [*words[:6], *near[6:]]
    placed = measure_paths(network, asking(words), setting=HOW).estimates.filter(method=method)
    for name in ("placebo_mean", "placebo_low", "placebo_high"):
        assert placed[name].to_list() == pytest.approx(by_hand(network, others))


def test_p_of_placebos_is_uniform_where_nothing_is_associated() -> None:
    rng, found = np.random.default_rng(4), []
    for _ in range(8):
        network = made_up(rng)
        for _ in range(10):
            one = measure_paths(network, asking(some(rng)), setting=HOW).estimates
            found.append(one.filter(pl.col("targets").is_null()))
    for method in ("placebo", "placebo_targets"):
        p = pl.concat(found).filter(method=method)["p"].to_numpy()
        assert len(p) == 80
        # of 80 draws of .05 (.5), more than 10 (outside 28 to 52) come up less than once in 100
        assert np.count_nonzero(p <= 0.05) <= 10
        assert 28 <= np.count_nonzero(p <= 0.5) <= 52


def test_planted_short_paths_are_found() -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        words = some(rng)
        tied = [(words[(at + k) % 3 * 2 + (at >= 12)], words[at]) for at in range(6, 18)
                for k in range(2)]  # fmt: skip
        rows = measure_paths(made_up(rng, tied), asking(words), setting=HOW).estimates
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
    found = measure_paths(Network.from_edges(frame, name="two parts"), study, setting=HOW)
    rows = found.estimates.filter(method="permutation")
    # kind: woman 1, man 2; boss: man 1, woman 2; tall: boy 1, girl 2
    assert rows.select("targets", "estimate", "n").rows() == [
        (None, 1, 3),
        ("f", 1, 1),
        ("m", 1, 2),
    ]
    assert found.lengths["hops"].null_count() == 6
    placed = found.estimates.filter(method="placebo")
    assert placed["p"].null_count() == 3
    assert set(placed["note"]) == {"fewer than 50 other words to draw placebos from"}


def test_no_path_at_all_is_no_number() -> None:
    frame = pl.DataFrame({"src": ["woman", "kind"], "tgt": ["man", "boss"], "wt": [1, 1]})
    study = parse_network_study(
        "name: mine\nidentities:\n  gender:\n    approach: stereotypes\n"
        "    pairs: [{f: woman, m: man}]\n    targets: {f: [kind], m: [boss]}\n",
        "mine.yaml",
    )
    rows = measure_paths(Network.from_edges(frame, name="parted"), study, setting=HOW).estimates
    assert rows["estimate"].null_count() == rows.height == 12
    assert rows["note"].null_count() == 0 and rows["n"].sum() == 0


def test_haikus_consistent_paths_are_shorter_as_the_paper_says(haiku: Network) -> None:
    """Figure 9 shows four pairs of it; the network of figure 8 is not released."""
    found = measure_paths(haiku)
    of = dict(found.lengths.select(pl.concat_str("prime", "target", separator=" "), "hops").rows())
    consistent = of["feminine compassionate"], of["masculine forceful"]
    assert max(consistent) < min(of["feminine forceful"], of["masculine compassionate"])
    both = found.estimates.filter(pl.col("targets").is_null())
    assert both["estimate"].unique().to_list() == pytest.approx([0.384])
    ((low, high),) = both.filter(method="bootstrap").select("ci_low", "ci_high").rows()
    of_targets = (
        found.lengths.group_by("targets", "target")
        .agg(pl.col("hops").filter(pl.col("group") != pl.col("targets")).mean()
             - pl.col("hops").filter(pl.col("group") == pl.col("targets")).mean())
        .group_by("targets").agg(pl.col("hops").var() / 25)
    )  # fmt: skip
    normal = 1.96 * of_targets["hops"].sum() ** 0.5 / 2  # half of a normal interval
    assert (high - low) / 2 == pytest.approx(normal, rel=0.08) and low > 0.2
    assert both.filter(method="permutation")["p"].to_list() == [1 / 32]
    assert both.filter(pl.col("method").str.starts_with("placebo"))["p"].max() <= 0.05
