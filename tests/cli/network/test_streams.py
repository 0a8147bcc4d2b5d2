"""``clinometer network streams``: the terminal, tables, drawings and a page."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

EDGES = "src,tgt,wt\nold,wise,4\nold,frail,1\nwise,calm,2\nfrail,ill,3\ncalm,end,5\nill,end,2\n"
VALENCE = "wise\t0.9\nfrail\t0.1\ncalm\t0.8\nill\t0.1\nend\t0.5\n"


@pytest.fixture(autouse=True)
def files(tmp_path: Path) -> None:
    (tmp_path / "made.csv").write_text(EDGES)
    (tmp_path / "v.txt").write_text(VALENCE)
    (tmp_path / "pairs.csv").write_text("source,target\nold,end\nwise,ill\n")


def test_the_terminal_shows_length_paths_types_and_words(run) -> None:
    code, out, err = run("network", "streams", "made.csv", "old", "end", "--valence", "v.txt")
    assert (code, err) == (0, "")
    assert [" ".join(line.split()) for line in out.splitlines()] == [
        "old → end · made",
        "3 hops, 2 paths: 2 mixed",
        "0 ?old",
        "1 −frail, +wise",
        "2 +calm, −ill",
        "3 end",
    ]


def test_without_ratings_there_are_neither_types_nor_signs(run) -> None:
    out = run("network", "streams", "made.csv", "old", "end", "--name", "net")[1]
    assert out.splitlines()[:2] == ["old → end · net", "3 hops, 2 paths"]
    assert not set("+−?") & set(out)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_tables_of_words_and_edges_stand_side_by_side(run, ending: str) -> None:
    code, out, _ = run("network", "streams", "made.csv", "--pairs", "pairs.csv",
                       "--neutral", "0.05", "0.85", "--valence", "v.txt",
                       "--out", f"to/s.{ending}")  # fmt: skip
    assert code == 0
    assert out.endswith(f"12 words: to/s.{ending}\n12 edges: to/s_edges.{ending}\n")
    read_table = pl.read_csv if ending == "csv" else pl.read_parquet
    nodes, edges = read_table(f"to/s.{ending}"), read_table(f"to/s_edges.{ending}")
    assert nodes.group_by("source", maintain_order=True).len().rows() == [("old", 6), ("wise", 6)]
    assert set(nodes.filter(tone="positive")["word"]) == {"wise"}
    assert edges["weight"].to_list()[:2] == [1.0, 4.0]


def test_a_page_holds_all_it_shows(run) -> None:
    assert run("network", "streams", "made.csv", "--pairs", "pairs.csv", "--out", "s.html")[0] == 0
    page = Path("s.html").read_text()
    assert page.count("<figure") == 2
    assert "Mindset stream from old to end in made." in page and "default-src" in page
    assert "http" not in page.split("<body>")[1].replace("http://www.w3.org/1999/xlink", "")


@pytest.mark.parametrize(("ending", "start"), [("svg", b"<svg"), ("png", b"\x89PNG")])
def test_a_drawing(run, ending: str, start: bytes) -> None:
    assert run("network", "streams", "made.csv", "old", "end", "--out", f"s.{ending}")[0] == 0
    assert Path(f"s.{ending}").read_bytes().startswith(start)


def test_directed_edges_are_followed_forward(run) -> None:
    assert run("network", "streams", "made.csv", "old", "end", "--directed")[0] == 0
    code, _, err = run("network", "streams", "made.csv", "end", "old", "--directed")
    assert code == 2
    assert "no path from 'end' to 'old' in network 'made', following its directed edges" in err


def test_a_pair_without_a_stream_can_be_skipped(run) -> None:
    Path("more.csv").write_text("source,target\nold,end\nold,young\n")
    assert run("network", "streams", "made.csv", "--pairs", "more.csv")[0] == 2
    code, out, err = run("network", "streams", "made.csv", "--pairs", "more.csv",
                         "--missing", "skip")  # fmt: skip
    assert (code, out.count("→")) == (0, 1)
    assert err == "clinometer: skipped: target not in network 'made': 'young'\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["old"], "source and target: name two words, or give --pairs FILE"),
        (["old", "frial"], "target not in network 'made': 'frial' (did you mean frail?)"),
        (["old", "old"], "source and target are both 'old'"),
        (["old", "end", "--pairs", "pairs.csv"], "source 'old': name two words or give --pairs"),
        (["--pairs", "made.csv"], "made.csv: unknown column 'source'"),
        (["--pairs", "pairs.csv", "--out", "s.png"], "out s.png: a drawing shows one pair of 2"),
        (["old", "end", "--out", "s.pdf"], "out s.pdf: ending '.pdf'; allowed are .html, .svg"),
        (["old", "end", "--most-nodes", "0"], "most_nodes 0: expected a whole number"),
        (["old", "end", "--valence", "made.csv"], "made.csv: no column word or term"),
    ],
)
def test_what_is_wrong_is_one_line(run, arguments: list[str], message: str) -> None:
    code, out, err = run("network", "streams", "made.csv", *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err
