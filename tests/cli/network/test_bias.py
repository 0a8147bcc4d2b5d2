"""``clinometer network bias`` and ``compare``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from clinometer.directory.results import read_estimates
from clinometer.results import ESTIMATES

Run = Callable[..., tuple[int, str, str]]


def test_bias_writes_the_effects_and_says_them(run: Run, edges: Path, tmp_path: Path) -> None:
    extras = ("--activations", "A.csv", "--sensitivity", "--draws", "100")
    code, out, err = run(
        "network", "bias", "mine.csv", "--study", "mine.yaml", "--out", "E.csv", *extras
    )
    assert (code, err) == (0, "")
    estimates = pl.read_csv(tmp_path / "E.csv")
    assert estimates.columns == list(ESTIMATES)
    unvaried = estimates.filter(pl.col("varied").is_null(), method="published")
    assert unvaried["subject"].unique().to_list() == ["mine"]
    assert unvaried["targets"].to_list() == ["female", "male"]
    assert unvaried["estimate"][0] > 0 > unvaried["estimate"][1]
    assert "mine, gender, female: effect 0.949" in out
    assert "mine, gender, female, arbitrary primes: fewer than 50 other words" in out
    assert pl.read_csv(tmp_path / "A.csv").height == 8
    assert set(estimates["varied"].drop_nulls()) == {"time_steps", "retention", "weights", "norm"}


def test_bias_compares_the_lengths_of_paths(run: Run, edges: Path, tmp_path: Path) -> None:
    arguments = ("network", "bias", "mine.csv", "--study", "mine.yaml", "--out", "E.csv")
    code, out, err = run(*arguments, "--paths", "--draws", "100")
    assert (code, err) == (0, "")
    estimates = pl.read_csv(tmp_path / "E.csv").filter(measure="path_difference")
    assert estimates.filter(method="permutation")["targets"].to_list() == [None, "female", "male"]
    assert "mine, gender, paths to all targets: difference" in out
    assert "mine, gender, paths to male targets, arbitrary targets: fewer than 50 other" in out
    code, out, err = run(*arguments, "--paths", "--approach", "valence")
    assert code == 2 and "paths: only of the approach stereotypes, not of valence" in err


def test_differences_can_be_left_out(run: Run, edges: Path, tmp_path: Path) -> None:
    arguments = ("network", "bias", "A=mine.csv", "B=mine.csv", "--study", "mine.yaml")
    for extra, factors in (((), {"subject", None}), (("--no-differences",), {None})):
        assert run(*arguments, "--out", "E.parquet", *extra)[0] == 0
        assert set(pl.read_parquet(tmp_path / "E.parquet")["factor"]) == factors


def test_bias_says_what_rewired_networks_give(run: Run, edges: Path, tmp_path: Path) -> None:
    arguments = ("--study", "mine.yaml", "--draws", "100", "--rewirings", "19")
    code, out, err = run("network", "bias", "mine.csv", *arguments, "--out", "E.csv")
    assert (code, err) == (0, "")
    estimates = pl.read_csv(tmp_path / "E.csv").filter(
        method="rewired", measure="activation_effect"
    )
    assert estimates["targets"].to_list() == ["female", "male"]
    assert estimates["n_resamples"].to_list() == [19, 19] and (estimates["p"] >= 1 / 20).all()
    assert "mine, gender, female, rewired: " in out and "published test: p ≤ .05 in " in out


def test_bias_of_valence_reads_a_lexicon(run: Run, edges: Path, tmp_path: Path) -> None:
    words = {"kind": 0.9, "leader": 0.5, "woman": 0.7, "man": 0.6, "null": 0.4, "girl": 0.8}
    pl.DataFrame({"word": [*words], "valence": [*words.values()]}).write_csv(tmp_path / "v.csv")
    arguments = ("--study", "mine.yaml", "--approach", "valence", "--valence", "v.csv")
    code, out, err = run("network", "bias", "N=mine.csv", *arguments, "--out", "V.csv")
    assert (code, err) == (0, "")
    assert "N, family, woman: slope" in out and "N, family, all equal: χ²" in out
    assert "N, family, woman, arbitrary primes: fewer than 50 other words" in out
    estimates = pl.read_csv(tmp_path / "V.csv")
    assert estimates["prime"].to_list() == [
        *["woman"] * 2,
        *["man"] * 2,
        *[None] * 2,
        "woman",
        "man",
        None,
    ]
    assert estimates["method"].to_list() == [*["published", "robust"] * 3, *["placebo"] * 3]


def test_compare_writes_tables_and_a_report(run: Run, edges: Path, tmp_path: Path) -> None:
    changed_edges = edges.read_text(encoding="utf-8").replace("woman,kind,3", "man,kind,3")
    (tmp_path / "other.csv").write_text(changed_edges, encoding="utf-8")
    arguments = ("--study", "mine.yaml", "--stream", "woman:leader", "--draws", "100")
    networks = ("A=mine.csv", "B=other.csv", "--rewirings", "19")
    code, out, err = run("network", "compare", *networks, *arguments, "--out", "both")
    assert (code, err) == (0, "")
    *remarks, tables, _ = out.splitlines()
    assert tables.endswith(" tables: both") and any(", B: " in line for line in remarks)
    estimates = read_estimates(tmp_path / "both")
    unvaried = estimates.filter(
        pl.col("varied").is_null(), pl.col("factor").is_null(), method="published"
    )
    assert unvaried.group_by("measure").len().sort("measure").rows() == [
        ("activation_effect", 4), ("priming_correlation", 2), ("priming_effect", 2)
    ]  # fmt: skip
    page = (tmp_path / "both" / "report.html").read_text(encoding="utf-8")
    assert "Mindset stream from woman to leader in B" in page and "Beyond chance" in page
    more = ("network", "compare", "A=mine.csv", *arguments, "--rewirings", "0", "--out", "both")
    assert run(*more)[0] == 0
    assert read_estimates(tmp_path / "both").filter(method="rewired").is_empty()
    assert not (tmp_path / "both" / "network_overlaps.parquet").exists()
    assert "Beyond chance" not in (tmp_path / "both" / "report.html").read_text(encoding="utf-8")


def test_a_bundle_of_networks_is_measured_again_from_its_inputs(
    run: Run, edges: Path, tmp_path: Path
) -> None:
    """The inputs are known by their content: their names do not matter, a changed one is missed."""
    (tmp_path / "valence.csv").write_text("word,valence\nkind,.9\nwoman,.6\nleader,.4\ncold,.1\n")
    arguments = ("--study", "mine.yaml", "--stream", "woman:leader", "--draws", "100")
    more = ("--rewirings", "19", "--placebos", "19", "--valence", "valence.csv", "--decay", ".01")
    assert run("network", "compare", "A=mine.csv", *arguments, *more, "--out", "nets")[0] == 0
    assert run("bundle", "nets", "--out", "nets.zip")[0] == 0
    (tmp_path / "inputs").mkdir()
    for number, name in enumerate(("mine.csv", "valence.csv")):
        (tmp_path / "inputs" / f"{number}.csv").write_bytes((tmp_path / name).read_bytes())
    code, out, _ = run("verify", "nets.zip", "--inputs", "inputs")
    assert code == 0 and "yes; recomputed: estimates, networks, network_activations" in out
    (as_stored,) = (line for line in out.splitlines() if line.startswith("as stored"))
    assert "networks.json" in as_stored and ".parquet" not in as_stored

    table = tmp_path / "nets" / "estimates.parquet"
    pl.read_parquet(table).with_columns(pl.col("estimate") + 1e-3).write_parquet(table)
    assert run("bundle", "nets", "--out", "forged.zip")[0] == 0
    code, out, _ = run("verify", "forged.zip", "--inputs", "inputs")
    assert code == 1 and "estimates.parquet: estimate differs" in out

    (tmp_path / "inputs" / "0.csv").write_text("src,tgt,wt\na,b,1\n")
    code, _, err = run("verify", "nets.zip", "--inputs", "inputs")
    assert code == 2 and "no file has the content of mine.csv, the input 'A'" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("bias", "mine.csv", "--out", "E.csv"), "prime not in network 'mine': 'female'"),
        (("bias", "mine.csv", "--study", "no", "--out", "E.csv"), "unknown study of networks 'no'"),
        (("bias", "mine.csv", "--study", "mine.yaml", "--approach", "valence", "--out", "E.csv"),
         "approach 'valence' needs a lexicon of valence; give its path (--valence FILE)"),
        (("bias", "mine.csv", "mine.csv", "--study", "mine.yaml", "--out", "E.csv"),
         "name 'mine' stands twice"),
        (("bias", "mine.csv", "--study", "mine.yaml", "--out", "X.csv", "--activations", "C.txt"),
         "C.txt: ending '.txt'; allowed are .csv, .parquet"),
        (("bias", "mine.csv", "--study", "mine.yaml", "--out", "E.csv", "--rewirings", "5"),
         "rewirings 5: at least 19"),
        (("bias", "mine.csv", "--study", "mine.yaml", "--out", "E.csv", "--placebos", "5"),
         "placebos 5: at least 19"),
        (("compare", "mine.csv", "--study", "mine.yaml", "--draws", "0", "--out", "d"),
         "'--draws': 0 is not in the range x>=100"),
        (("compare", "mine.csv", "--study", "mine.yaml", "--stream", "woman", "--out", "d"),
         "stream 'woman': expected SOURCE:TARGET"),
    ],
)  # fmt: skip
def test_wrong_input_is_one_line(
    run: Run, edges: Path, arguments: tuple[str, ...], message: str
) -> None:
    code, out, err = run("network", *arguments)
    assert code == 2
    assert message in err and err.count("\n") == 1
    assert not Path("X.csv").exists() and not Path("E.csv").exists()
