"""Random samples of sentences from texts of any size."""

from __future__ import annotations

import gzip
import json
import sys
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinometer.errors import InputError
from clinometer_measures.states import corpus
from clinometer_measures.states.corpus import sample_corpus, texts
from clinometer_measures.states.readers.states import locate
from clinometer_measures.states.tables import CONTEXTS

TEXT = """\
A warm day came. Then it was cold! "Warm-blooded animals" sleep? The Ice Age was cold, too.
The children's warm coats were left behind
nothing here
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "a.txt").write_text(TEXT, encoding="utf-8")
    return tmp_path / "a.txt"


def test_sentences_are_parted_and_terms_found_as_words_of_their_own(path: Path) -> None:
    sample = sample_corpus([path], ["warm", "ice  age", "absent", "children"])
    assert dict(sample.schema) == CONTEXTS
    assert sorted(sample.select("key", "context").rows()) == [
        ("children", "The children's warm coats were left behind"),
        ("ice age", "The Ice Age was cold, too."),
        ("warm", "A warm day came."),
        ("warm", "The children's warm coats were left behind"),
    ]


def test_a_long_sentence_is_cut_around_the_term(tmp_path: Path) -> None:
    words = [f"w{n}" for n in range(100)]
    for place in (0, 1, 50, 99):
        sentence = [*words[:place], "(warm),", *words[place + 1 :]]
        (tmp_path / "a.txt").write_text(" ".join(sentence))
        (context,) = sample_corpus([tmp_path / "a.txt"], ["warm"], width=11)["context"]
        assert len(context.split()) == 11
        assert context.split().index("(warm),") == {0: 0, 1: 1, 50: 5, 99: 10}[place]


def numbered(path: Path, numbers: list[int]) -> Path:
    path.write_text("".join(f"A warm day number {n} came.\n" for n in numbers))
    return path


def test_every_sentence_has_the_same_chance(tmp_path: Path) -> None:
    path = numbered(tmp_path / "a.txt", list(range(10)))
    counts = Counter(
        context
        for seed in range(400)
        for context in sample_corpus([path], ["warm"], most=3, seed=seed)["context"]
    )
    # Each is drawn 120 times on average; the standard deviation is 9.2.
    assert len(counts) == 10 and all(80 < count < 160 for count in counts.values())


def test_the_sample_depends_on_the_seed_and_not_on_order_or_repetition(tmp_path: Path) -> None:
    path = numbered(tmp_path / "a.txt", list(range(50)))
    shuffled = numbered(tmp_path / "b.txt", [*range(49, 24, -1), *[7] * 500, *range(25)])
    sample = sample_corpus([path], ["warm"], seed=3)
    assert sample.equals(sample_corpus([shuffled, path], ["warm"], seed=3))
    assert sample.head(2).equals(sample_corpus([path], ["warm"], most=2, seed=3))
    assert not sample.equals(sample_corpus([path], ["warm"], seed=4))


@settings(max_examples=60)
@given(st.text(alphabet="wW a.-'\n\u2019!ä", max_size=60))
def test_a_sentence_that_is_drawn_holds_its_term(tmp_path_factory: object, text: str) -> None:
    path = tmp_path_factory.mktemp("c") / "a.txt"  # type: ignore[attr-defined]
    path.write_text(text + "\nw\n", encoding="utf-8")
    for term, context in sample_corpus([path], ["w", "aw a"], most=99, width=3)[
        ["term", "context"]
    ].iter_rows():
        locate(term, context)


def test_files_of_every_kind_give_the_same(path: Path, tmp_path: Path) -> None:
    zstandard = pytest.importorskip("zstandard")
    lines = TEXT.splitlines()
    jsonl = "".join(json.dumps({"id": 1, "body": line}) + "\n" for line in [*lines, None])
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(TEXT.encode()))
    (tmp_path / "c.jsonl").write_text(jsonl)
    (tmp_path / "d.jsonl.zst").write_bytes(zstandard.ZstdCompressor().compress(jsonl.encode()))
    pl.DataFrame({"text": lines}).write_csv(tmp_path / "e.csv")
    pl.DataFrame({"n": 1, "text": ["\n".join(lines)]}).write_parquet(tmp_path / "f.parquet")
    expected = sample_corpus([path], ["warm", "cold"])
    for name in ("b.txt.gz", "c.jsonl", "d.jsonl.zst", "e.csv", "f.parquet"):
        assert sample_corpus([tmp_path / name], ["warm", "cold"]).equals(expected), name


def test_a_line_without_end_is_read_in_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corpus, "PIECE", 50)
    text = "word " * 100 + "x" * 120
    (tmp_path / "a.txt").write_text(text)
    pieces = list(texts(tmp_path / "a.txt"))
    assert max(map(len, pieces)) <= 100 and sum(" word " in f" {piece}" for piece in pieces) > 5
    assert Counter(" ".join(pieces).split())["word"] == 100


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.txt", None, "no such file"),
        ("a.doc", b"", "ending '.doc'; allowed are .txt, .jsonl, .csv, .parquet"),
        ("a.jsonl", b'{"text": "a"}\n{', ":2: not a line of JSON"),
        ("a.jsonl", b'{"title": "a"}\n', "no field text or body.*; name one of title"),
        ("a.csv", b"title\na\n", "no column text or body"),
        ("a.txt.gz", b"plain", "broken gzip file|Not a gzipped"),
        ("a.txt", b"nothing", "none of the 1 terms stands in the texts"),
    ],
)
def test_files_that_do_not_serve_are_one_line(
    name: str, content: bytes | None, says: str, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=says):
        sample_corpus([tmp_path / name], ["warm"])


def test_zst_says_what_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.txt.zst").write_bytes(b"not packed")
    with pytest.raises(InputError, match="broken zst file"):
        sample_corpus([tmp_path / "a.txt.zst"], ["warm"])
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(InputError, match="needs the package zstandard"):
        sample_corpus([tmp_path / "a.txt.zst"], ["warm"])


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"most": 0}, "most 0: at least 1"),
        ({"width": 0}, "width 0"),
        ({"terms": []}, "0 terms"),
        ({"terms": ["a " * 9]}, "up to 9 words"),
    ],
)
def test_settings_that_mean_nothing_are_refused(
    settings: dict[str, object], says: str, path: Path
) -> None:
    with pytest.raises(InputError, match=says):
        sample_corpus([path], **{"terms": ["warm"], **settings})  # type: ignore[arg-type]
