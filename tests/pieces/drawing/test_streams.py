"""Drawings of streams: what they show, what they say, and what they let nobody smuggle in."""

from __future__ import annotations

import random
import re
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from clinometer.errors import InputError
from clinometer.numbers import many
from clinometer.pieces.drawing.figures import Figure, write_drawing, write_figures
from clinometer.pieces.drawing.theme import stylesheet
from clinometer.report.document import write_figure_page
from clinometer_measures.networks import Network
from clinometer_measures.networks.report.stream_figures import stream_figures
from clinometer_measures.networks.streams import several, stream, stream_tables

ROWS = [("old", "wise", 4), ("old", "grey", 9), ("old", "frail", 1), ("wise", "calm", 2),
        ("grey", "calm", 16), ("frail", "ill", 3), ("ill", "end", 2),
        ("calm", "end", 5)]  # fmt: skip
VALENCE = {"wise": 0.9, "grey": 0.5, "frail": 0.1, "ill": 0.05, "calm": 0.8, "end": 0.4}


def network(rows: Any = ROWS, name: str = "made") -> Network:
    frame = pl.DataFrame(rows, schema=["src", "tgt", "wt"], orient="row")
    return Network.from_edges(frame, name=name)


def draw_stream(rows: Any = ROWS, ends: tuple[str, str] = ("old", "end"), **options: Any) -> Figure:
    flow = stream(network(rows), *ends, **options)
    (figure,) = stream_figures(flow.nodes, flow.edges)
    return figure


def words(figure: Figure) -> dict[str, dict[str, Any]]:
    return {row["word"]: row for row in figure.spec["datasets"]["rows"] if row.get("word")}


def wide() -> Network:
    """Two hundred words in eight layers."""
    draw = random.Random(3)
    layers = [["s"], *[[f"w{hop} {place}" for place in range(25)] for hop in range(8)], ["t"]]
    edges = {(draw.choice(near), word) for near, far in pairwise(layers) for word in far} | {
        (word, draw.choice(far)) for near, far in pairwise(layers) for word in near
    }
    return network([(*edge, draw.randint(1, 30)) for edge in sorted(edges)])


def test_the_title_and_the_words_that_are_told() -> None:
    figure = draw_stream(valence=VALENCE)
    assert figure.spec["title"]["text"] == "old → end · made: 3 hops, 3 paths"
    assert figure.summary == (
        "3 hops, 3 paths: 3 mixed. Inner words: 2 positive, 1 neutral, 2 negative. "
        "Start: old (not rated). 1 hop: wise (positive); grey (neutral); frail (negative). "
        "2 hops: calm (positive); ill (negative). End: end (neutral)."
    )


def test_tones_are_told_by_colour_and_sign_and_the_unrated_stand_apart() -> None:
    figure = draw_stream(valence=VALENCE)
    rows = figure.spec["datasets"]["rows"]
    boxes = {row["label"]: row["tone"] for row in rows if row["kind"] == "word"}
    assert boxes["+ wise"] == boxes["+ positive"] == "positive"
    assert boxes["− frail"] == boxes["− negative"] == "negative"
    assert boxes["grey"] == "neutral" != boxes["old"] == boxes["not rated"] == "unknown"
    styles = [layer["mark"] for layer in figure.spec["layer"]]
    assert {mark.get("fontStyle") for mark in styles} == {None, "normal", "italic"}
    assert "(1 of 7 words), and so not known to be neutral" in figure.caption


def test_without_ratings_there_is_no_key_and_the_caption_says_why() -> None:
    figure = draw_stream()
    assert {row["tone"] for row in words(figure).values()} == {"plain"}
    assert len(words(figure)) == 7
    assert "No word is rated: no lexicon of valence was given" in figure.caption
    assert figure.summary.startswith("3 hops, 3 paths. Start: old. 1 hop: ")


def test_lines_are_as_thick_as_the_root_of_their_weight() -> None:
    figure = draw_stream()
    width = {row["edge"]: row["stroke"] for row in figure.spec["datasets"]["rows"] if "edge" in row}
    assert len(width) == 8
    assert width["grey → calm"] == 5.0
    assert width["old → wise"] == pytest.approx((0.7 + 5.0) / 2)
    assert "the larger the weight of the edge (1 to 16)" in figure.caption


def test_no_two_words_overlap_and_no_line_crosses_a_word() -> None:
    flow = stream(wide(), "s", "t", most_nodes=300)
    (figure,) = stream_figures(flow.nodes, flow.edges)
    placed = words(figure)
    assert len(placed) == 202
    hop = dict(flow.nodes.select("word", "hop").iter_rows())
    for a, b in combinations(placed, 2):
        if hop[a] == hop[b]:
            assert abs(placed[a]["y"] - placed[b]["y"]) >= 18
            assert (placed[a]["left"], placed[a]["right"]) == (
                placed[b]["left"],
                placed[b]["right"],
            )
        elif hop[a] < hop[b]:
            assert placed[a]["right"] + 50 < placed[b]["left"]
    size = figure.spec["width"], figure.spec["height"]
    assert all(row["right"] <= size[0] and 0 <= row["top"] and row["bottom"] <= size[1]
               for row in placed.values())  # fmt: skip


def test_neighbours_are_drawn_side_by_side() -> None:
    """Three chains without crossings, listed in an order that has some."""
    rows = [(*edge, 1) for edge in ("sa", "sb", "sc", "az", "by", "cx", "zt", "yt", "xt")]
    placed = words(draw_stream(rows, ("s", "t")))
    assert all(placed[a]["y"] == placed[b]["y"] for a, b in ("az", "by", "cx"))


def test_a_drawing_is_cut_to_what_is_shown_and_says_so() -> None:
    figure = draw_stream(valence=VALENCE, most_nodes=2)
    assert set(words(figure)) == {"old", "grey", "calm", "end"}
    assert (
        "Shown are 2 of 5 inner words and 1 of 3 paths; left out are those with the weakest links."
    ) in figure.caption
    assert "1 hop: grey (neutral); and 2 more." in figure.summary
    assert "3 hops, 3 paths: 3 mixed." in figure.summary


def test_one_hop_is_a_line_between_two_words(tmp_path: Path) -> None:
    figure = draw_stream([("a", "b", 3)], ("a", "b"))
    assert figure.spec["title"]["text"] == "a → b · made: 1 hop, 1 path"
    drawing = write_figures([figure], tmp_path)[figure.name]
    assert drawing.count("mark-rule") == 1
    assert "weight of the edge (3)" in figure.caption


def test_words_with_markup_are_text(tmp_path: Path) -> None:
    odd = ["<script>alert(1)</script>", "var(--ink)", "\u202eevil & \x1b[31m", "a" * 60, "null"]
    rows = [(a, b, 2) for a, b in pairwise(odd)]
    flow = stream(network(rows, "<b>net</b>"), odd[0], odd[-1])
    (figure,) = stream_figures(flow.nodes, flow.edges)
    drawing = write_figures([figure], tmp_path)[figure.name]
    assert "<script" not in drawing and "&lt;script&gt;alert(1)&lt;/script&gt;" in drawing
    assert ">var(--ink)<" in drawing and "⟨U+202E⟩evil &amp; ␛[31m" in drawing
    assert f">{'a' * 27}…<" in drawing
    write_figure_page([figure], tmp_path / "page.html", title="<i>")
    page = (tmp_path / "page.html").read_text()
    assert page.count("<script") == 1 and "<title>&lt;i&gt;</title>" in page
    assert "<b>net" not in page and "\u202e" not in page and "\x1b" not in page


def test_each_stream_of_a_table_is_a_figure_with_its_own_name() -> None:
    networks = [network(name="one"), network(name="two")]
    nodes, edges = stream_tables(networks, [("old", "end"), ("wise", "grey")], valence=VALENCE)
    figures = stream_figures(nodes, edges)
    assert [figure.name for figure in figures] == [
        "stream-one-old-end", "stream-one-wise-grey", "stream-two-old-end", "stream-two-wise-grey"
    ]  # fmt: skip
    assert [figure.spec["title"]["text"].split(":")[0] for figure in figures][
        2
    ] == "old → end · two"
    assert stream_figures(nodes.clear(), edges.clear()) == []


def test_a_network_without_a_name_is_drawn_too() -> None:
    (flow,), _ = several(network(name=""), [("old", "end")])
    (figure,) = stream_figures(
        flow.nodes.with_columns(network=pl.lit(None, pl.String)),
        flow.edges.with_columns(network=pl.lit(None, pl.String)),
    )
    assert figure.spec["title"]["text"] == "old → end: 3 hops, 3 paths"
    assert figure.caption.startswith("Mindset stream from old to end. All")


def test_tables_that_do_not_belong_together_are_refused() -> None:
    nodes, edges = stream_tables([network()], [("old", "end"), ("wise", "grey")])
    with pytest.raises(InputError, match="edges: not those of the stream"):
        stream_figures(nodes.filter(source="wise"), edges.filter(source="old"))
    with pytest.raises(InputError, match="tone"):
        stream_figures(nodes.drop("tone"), edges)


def test_a_drawing_is_written_by_the_ending_of_its_file(tmp_path: Path) -> None:
    for name, start in (("s.svg", b"<svg"), ("s.png", b"\x89PNG")):
        write_drawing(draw_stream(valence=VALENCE), tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(start)
    assert "var(--" not in (tmp_path / "s.svg").read_text()


def test_very_large_numbers_are_powers_of_ten() -> None:
    assert [many(1), many("12345"), many(10**15 - 1)] == ["1", "12,345", "999,999,999,999,999"]
    assert many(2**15_000) == many("28" + "0" * 4514) == "2.8 × 10^4515"


@pytest.mark.parametrize("scheme", [0, 1])
def test_tones_can_be_read_in_light_and_dark(scheme: int) -> None:
    """WCAG 2: text needs a contrast of 4.5 to its ground."""
    blocks = re.findall(r":root \{(.*?)\}", stylesheet(), re.DOTALL)
    colors = dict(re.findall(r"--([\w-]+):\s*(#[0-9a-f]{6})", blocks[scheme]))
    tones = [name for name in colors if name.startswith("tone-")]
    assert len(tones) == 4
    for name in tones:
        light, dark = sorted((luminance(colors[name]), luminance(colors["paper"])), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, name


def luminance(color: str) -> float:
    parts = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
