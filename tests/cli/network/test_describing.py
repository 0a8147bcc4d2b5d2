"""``clinometer network stats`` and ``activate``."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

Run = Callable[..., tuple[int, str, str]]


def test_what_networks_share(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("src,tgt,wt\nx,y,1\ny,z,2\n")
    (tmp_path / "b.csv").write_text("src,tgt,wt\ny,x,1\n")
    options = ["--overlaps", "shared.csv", "--no-paths"]
    code, out, _ = run("network", "stats", "a.csv", "B=b.csv", *options)
    assert code == 0
    shared = pl.read_csv("shared.csv").rows(named=True)
    assert [(row["of"], row["n_shared"], row["n_a"]) for row in shared] == [
        ("nodes", 2, 3), ("edges", 1, 1),
    ]  # fmt: skip
    assert len(out.splitlines()) == 7
    assert run("network", "stats", "a.csv", "--overlaps", "s.csv")[0] == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [("a,b\nx,y\n", "columns a, b"), ("src,tgt,wt\nx,y,0\n", "weight '0'"),
     ("src,tgt,wt\nx,y,1\ny,x,2\n", "stands twice"), (None, "no such file")],
)  # fmt: skip
def test_bad_networks_get_one_line(
    run: Run, tmp_path: Path, text: str | None, message: str
) -> None:
    if text is not None:
        (tmp_path / "bad.csv").write_text(text)
    code, _, err = run("network", "stats", "bad.csv")
    assert (code, err.count("\n")) == (2, 1)
    assert "bad.csv" in err and message in err


def test_activate_writes_a_column_per_prime(run: Run, edges: Path, tmp_path: Path) -> None:
    code, out, err = run(
        "network", "activate", "mine.csv", "--primes", "woman,null", "--out", "X.csv"
    )
    assert (code, err) == (0, "")
    assert "2 primes, 8 steps" in out
    activation = pl.read_csv(tmp_path / "X.csv")
    assert activation.columns == ["node", "woman", "null"]
    assert activation["node"].to_list()[-1] == "null" or "null" in activation["node"]
    assert activation["woman"].sum() == pytest.approx(7)


def test_activate_writes_a_bare_matrix_as_it_is_made(run: Run, edges: Path, tmp_path: Path) -> None:
    assert run("network", "activate", "mine.csv", "--primes", "all", "--out", "X.npy")[0] == 0
    assert run("network", "activate", "mine.csv", "--primes", "all", "--out", "X.parquet")[0] == 0
    table = pl.read_parquet(tmp_path / "X.parquet").drop("node")
    np.testing.assert_array_equal(np.load(tmp_path / "X.npy"), table.to_numpy())


def test_activate_keeps_targets_and_normalises(run: Run, edges: Path, tmp_path: Path) -> None:
    (tmp_path / "targets.txt").write_text("kind\nnull\n\n", encoding="utf-8")
    arguments = ("--primes", "woman,man", "--targets", "targets.txt", "--norm", "l2")
    assert run("network", "activate", "mine.csv", *arguments, "--out", "X.parquet")[0] == 0
    activation = pl.read_parquet(tmp_path / "X.parquet")
    assert activation["node"].to_list() == ["kind", "null"]
    assert (activation["woman"] ** 2 + activation["man"] ** 2).to_list() == pytest.approx([1, 1])


def test_a_loop_is_warned_of_in_one_line(run: Run, tmp_path: Path) -> None:
    (tmp_path / "loop.csv").write_text("src,tgt,wt\na,a,2\na,b,1\n", encoding="utf-8")
    warnings.simplefilter("always")  # pytest makes errors of warnings
    code, out, err = run("network", "activate", "loop.csv", "--primes", "a", "--out", "X.csv")
    assert code == 0 and "1 prime, 2 steps" in out
    assert err == "clinometer: warning: 1 self-loops: what they carry comes back to them\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("activate", "mine.csv", "--primes", "womam", "--out", "X.csv"),
         "prime not in network 'mine': 'womam' (did you mean woman"),
        (("activate", "mine.csv", "--primes", ",", "--out", "X.csv"),
         "primes ',': none; give a file or words"),
        (("activate", "none.csv", "--primes", "a", "--out", "X.csv"), "none.csv: no such file"),
        (("activate", "mine.csv", "--primes", "man", "--retention", "2", "--out", "X.csv"),
         "retention 2.0: allowed is 0 to 1"),
        (("activate", "mine.csv", "--primes", "man", "--out", "X.npy", "--norm", "l2"),
         "norm 'l2': a .npy matrix is written unnormalised"),
    ],
)  # fmt: skip
def test_wrong_input_of_activate_is_one_line(
    run: Run, edges: Path, arguments: tuple[str, ...], message: str
) -> None:
    code, _, err = run("network", *arguments)
    assert code == 2
    assert message in err and err.count("\n") == 1
    assert not Path("X.csv").exists() and not Path("X.npy").exists()
