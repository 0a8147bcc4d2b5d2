"""Lexicons: the files people have, and what is wrong with those they made."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest

from clinometer.errors import InputError
from clinometer.words.lexicons import EMOTIONS, read_emotions, read_valence


def write_lexicon(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def test_the_nrc_vad_lexicon(shared_data: Path) -> None:
    """20,007 words; "null" is one, "TRUE" is in capitals."""
    ratings = read_valence(shared_data / "nrc" / "vad_v1" / "v.scores")
    assert len(ratings) == 20_007
    assert {"very positive", "null", "TRUE"} <= set(ratings)
    assert ratings["very positive"] == max(ratings.values()) == 1


def test_the_nrc_emotion_lexicon(shared_data: Path) -> None:
    """Words per emotion as its publisher counts them."""
    name = "NRC-Emotion-Lexicon-Wordlevel-v0.92.txt"
    lexicon = read_emotions(shared_data / "nrc" / "emolex" / name)
    assert {emotion: len(words) for emotion, words in lexicon.items()} == {
        "anger": 1247, "anticipation": 839, "disgust": 1058, "fear": 1476, "joy": 689,
        "sadness": 1191, "surprise": 534, "trust": 1231,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("v.scores", "null\t0.25\nvery good\t1.000\n"),
        ("NRC-VAD-Lexicon.txt", "Word\tValence\tArousal\tDominance\r\nnull\t0.25\t0\t0\r\n"
                                "very good\t1\t1\t1\r\n"),
        ("bare.csv", "null,0.25\nvery good,1\n"),
        ("bare.txt", "null\t0.25\t0\t0\nvery good\t1\t1\t1\n"),
        ("v2.1.txt", "term\tvalence\tarousal\tdominance\nnull\t-0.5\t0\t0\nvery good\t1\t1\t1\n"),
        ("table.csv", "valence,word\n0.25,null\n1,very good\n,nan\n"),
        ("table.tsv", "\ufeffterm\tvalence\nnull\t0.25\nvery good\t1\n"),
    ],
)  # fmt: skip
def test_valence_is_read_from_each_kind_of_file(tmp_path: Path, name: str, text: str) -> None:
    assert read_valence(write_lexicon(tmp_path, name, text)) == {"null": 0.25, "very good": 1.0}


@pytest.mark.parametrize(
    "text",
    [
        "word,valence\nbad,-1\nfair,0\ngood,1\n",
        "Word,V.Mean.Sum\nbad,1\nfair,5\ngood,9\n",
        "word,valence 1 to 7\nbad,1\nfair,4\ngood,7\n",
        "word,Valence (-3 to 3)\nbad,-3\nfair,0\ngood,3\n",
    ],
)
def test_other_scales_are_brought_to_0_to_1(tmp_path: Path, text: str) -> None:
    valence = read_valence(write_lexicon(tmp_path, "v.csv", text))
    assert valence == {"bad": 0.0, "fair": 0.5, "good": 1.0}


def test_valence_is_read_from_parquet(tmp_path: Path) -> None:
    pl.DataFrame({"term": ["NA", "x"], "valence": [0.2, None]}).write_parquet(
        tmp_path / "v.parquet"
    )
    assert read_valence(tmp_path / "v.parquet") == {"NA": 0.2}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("good\t5.1\nbad\t0.5\n", "from 0.5 ('bad') to 5.1 ('good'); known scales are 0 to 1"),
        ("word\tvalence\ngood\t6.8\nbad\t1.2\n", "Name the column by the ends of its scale"),
        ("word\tvalence 1 to 5\ngood\t6\nbad\t1\n", "to 6 ('good'); its scale is 1 to 5"),
        ("good\t0.5\nbad\tnan\n", "v.txt:2: 'bad': valence 'nan'"),
        ("good\t0.5\ngood\t0.6\n", "v.txt:2: 'good' has valence 0.5 and 0.6; keep one"),
        ("good\t0.5\nbad\n", "v.txt:2: 1 fields where line 1 has 2"),
        ("word\tarousal\ngood\t0.5\n", "no column valence; has word, arousal"),
        ("good\n", "no column word or term; has good"),
        ("a\t1\t2\t3\t4\n", "5 columns and no header"),
        ("", "0 columns and no header"),
        ("word\tvalence\n", "no word has a valence"),
    ],
)
def test_a_wrong_valence_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        read_valence(write_lexicon(tmp_path, "v.txt", text))


def test_a_missing_or_undecodable_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="none.txt: no such file"):
        read_valence(tmp_path / "none.txt")
    (tmp_path / "v.txt").write_bytes(b"caf\xe9\t0.5\n")
    with pytest.raises(InputError, match="v.txt: not UTF-8 at byte 3"):
        read_valence(tmp_path / "v.txt")


LONG = [(f"w{place}", emotion) for place, emotion in enumerate(EMOTIONS)]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("nrc.txt", "".join(f"{w}\t{e}\t1\r\n{w}\tpositive\t0\r\nx\t{e}\t0\r\n" for w, e in LONG)),
        ("long.csv", "word,emotion\n" + "\n".join(f"{w},{e}" for w, e in LONG)),
        ("mark.csv", "emotion,term,value\n" + "\n".join(f"{e},{w},1\n{e},x,0" for w, e in LONG)),
        ("wide.tsv", "word\tnegative\t" + "\t".join(EMOTIONS) + "\n" + "\n".join(
            f"{w}\t1\t" + "\t".join(str(int(e == name)) for name in EMOTIONS) for w, e in LONG)),
    ],
)  # fmt: skip
def test_emotions_are_read_from_each_kind_of_file(tmp_path: Path, name: str, text: str) -> None:
    lexicon = read_emotions(write_lexicon(tmp_path, name, text))
    assert lexicon == {emotion: frozenset({word}) for word, emotion in LONG}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("good\tjoy\t2\n", r"e.txt:1: 'good': joy '2'; allowed are 0 and 1"),
        ("good\tjoy\t1\ngood\tjoy\t0\n", "e.txt:2: 'good' has joy 0 and 1; keep one"),
        ("good\tjoi\t1\n", "e.txt:1: emotion 'joi'; known are anger"),
        ("good\tjoy\t1\n", "no words for anger, anticipation, disgust, fear, sadness, surprise"),
        ("word\tjoy\ngood\t1\n", "no column emotion, and none for anger"),
    ],
)
def test_a_wrong_emotion_is_named(tmp_path: Path, rows: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_emotions(write_lexicon(tmp_path, "e.txt", rows))
