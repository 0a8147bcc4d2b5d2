"""Networks and associations from the files others publish."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from clinometer.errors import InputError
from clinometer.words import delimited
from clinometer.words.lexicons import read_valence
from clinometer_measures.networks import loading
from clinometer_measures.networks.loading import read_associations, read_network, tally_associations
from clinometer_measures.networks.network import Network

R100 = '''"","id","participantID","age","cue","R1Raw","R1","R2","R3"
"1",1,7,30,"old","Age","Age","young","NA"
"2",2,8,31,"old","age",age,NA,NA
"3",3,9,32,"old","x","""Unknown word","Unknown word","No more responses"
"4",4,9,32,"NA","null","null","nan","Null"
'''


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


def line(cue: str, repetition: int, *responses: str, **more: Any) -> str:
    answer = {"cue": cue, "repetition": repetition, "responses": responses, **more}
    return json.dumps(answer) + "\n"


def test_the_published_network(haiku: Network, shared_data: Path) -> None:
    assert repr(haiku) == "Network('Haiku', 15,596 nodes, 64,599 edges)"
    published = pl.read_csv(shared_data / "lwow" / "FA_Haiku_edgelist.csv", infer_schema=False)
    assert haiku.weights.sum() == 2 * published["wt"].cast(pl.Int64).sum()


@pytest.mark.parametrize(
    "columns", ["src,tgt,wt", "source,target,weight", "from,to,weight", "cue,response,count",
                "cue,response,n", "cue,response,R123"],
)  # fmt: skip
def test_the_columns_of_a_network(tmp_path: Path, columns: str) -> None:
    path = write(tmp_path, "edges.csv", f"{columns}\nnull,nan,2\nnan,true,1.5\n")
    network = read_network(path)
    assert network.name == "edges"
    assert network.edges().rows() == [("null", "nan", 2), ("nan", "true", 1.5)]


def test_a_network_may_be_named_directed_and_packed(tmp_path: Path) -> None:
    path = write(tmp_path, "FA_Me_edgelist.tsv.gz", "src\ttgt\twt\na\tb\t2\nb\ta\t3\n")
    assert read_network(path, directed=True).name == "Me"
    assert read_network(path, directed=True, name="You").name == "You"
    with pytest.raises(InputError, match=r"edgelist\.tsv\.gz: edge 'b' – 'a' stands twice"):
        read_network(path)


def test_a_parquet_network(tmp_path: Path) -> None:
    frame = pl.DataFrame({"src": ["a"], "tgt": ["b"], "wt": [2]})
    frame.write_parquet(tmp_path / "net.parquet")
    assert read_network(tmp_path / "net.parquet").edges().rows() == [("a", "b", 2.0)]


@pytest.mark.parametrize(
    ("text", "message"),
    [("a,b\nx,y\n", "columns a, b; a network needs two for its words"),
     ("src,tgt\nx,y\n", "one for the weight"),
     ("src,tgt,wt\nx,y,0\n", "'x' – 'y': weight '0'"),
     ("src,tgt,wt\nx,y,-1\n", "weight '-1'"),
     ("src,tgt,wt\nx,y,many\n", "weight 'many'"),
     ("src,tgt,wt\nx,y\n", "net.csv:2: 2 fields where line 1 has 3"),
     ("src,tgt,wt\n", "no edges"),
     ("src,src,wt\n", "column 'src' stands twice"),
     ("", "empty; expected a line with the names")],
)  # fmt: skip
def test_a_network_that_is_none(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_network(write(tmp_path, "net.csv", text))


def test_small_world_of_words(shared_data: Path) -> None:
    counts = read_associations(shared_data / "swow" / "swow_en_r1.csv.gz", responses="R1")
    assert counts.height == 483_636  # rows and cues by its index
    assert counts["cue"].n_unique() == 12_217
    assert counts.schema == {"cue": pl.String, "response": pl.String, "count": pl.Int64}
    assert counts["count"].min() == 1 and "null" in counts["response"]


def test_a_strength_file_with_tabs_takes_quotation_marks_for_text(tmp_path: Path) -> None:
    text = 'cue\tresponse\tR123\tN\tR123.Strength\nold\t"age\t4\t9\t.4\nold\tnan\t2\t9\t.2\n'
    path = write(tmp_path, "strength.csv", text)
    assert read_associations(path).rows() == [("old", '"age', 4), ("old", "nan", 2)]
    with pytest.raises(InputError, match="does not distinguish first from later responses"):
        read_associations(path, responses="R1")


def test_rows_of_participants(tmp_path: Path) -> None:
    counts, skipped = tally_associations(write(tmp_path, "SWOW-EN.R100.csv", R100))
    assert counts.rows() == [
        ("old", "Age", 1), ("old", "young", 1), ("old", "age", 1), ("NA", "null", 1),
        ("NA", "nan", 1),
    ]  # fmt: skip
    assert skipped == {"missing": 6, "doubled": 1}


def test_first_responses_of_participants(tmp_path: Path) -> None:
    path = write(tmp_path, "SWOW-EN.R100.csv.gz", R100)
    associations = read_associations(path, responses="R1")
    assert associations.rows() == [("old", "Age", 1), ("old", "age", 1), ("NA", "null", 1)]


def test_rows_of_lwow_where_na_is_a_word(tmp_path: Path) -> None:
    text = "cue,R1,R2,R3\nsalt,NA,sea,\nsalt,sea,Sea,\nsalt,,,\n"
    counts, skipped = tally_associations(write(tmp_path, "FA_Haiku.csv", text))
    assert counts.rows() == [("salt", "NA", 1), ("salt", "sea", 2)]
    assert skipped == {"missing": 5, "doubled": 1}


def test_a_row_per_answer(tmp_path: Path) -> None:
    text = "cue,response,who\nold,TRUE,1\nold,TRUE,2\nold,,3\nold, none ,4\n"
    assert read_associations(write(tmp_path, "a.csv", text)).rows() == [
        ("old", "TRUE", 2), ("old", "none", 1),
    ]  # fmt: skip


def test_counts_need_not_be_whole(tmp_path: Path) -> None:
    counts = read_associations(write(tmp_path, "a.csv", "cue,response,freq\na,b,0.5\na,b,1\n"))
    assert counts.rows() == [("a", "b", 1.5)]


@pytest.mark.parametrize("count", ["0", "-2", "", "nan", "inf", "two"])
def test_a_count_is_a_number_above_0(tmp_path: Path, count: str) -> None:
    path = write(tmp_path, "a.csv", f"cue,response,n\na,b,1\na,c,{count}\n")
    with pytest.raises(InputError, match=f"row 2, 'a' – 'c': n '{count}'; counts are"):
        read_associations(path)


def test_answers_are_the_same_in_many_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path, "SWOW-EN.R100.csv", R100 * 1)
    in_one_piece = tally_associations(path)
    monkeypatch.setattr(delimited, "PIECE", 1)
    monkeypatch.setattr(loading, "MOST_PAIRS", 0)
    counts, skipped = tally_associations(path)
    assert (counts.rows(), skipped) == (in_one_piece[0].rows(), in_one_piece[1])


def test_shards(tmp_path: Path) -> None:
    folder = tmp_path / "answers" / "model"
    folder.mkdir(parents=True)
    torn = b'{"cue": "old", "repet'
    first = line("old", 0, "age", "Age", "") + line("old", 1, "young") + "\n"
    (folder / "00000.jsonl").write_bytes(first.encode() + b"[1]\n" + b"\xff\n" + torn)
    second = line("old", 1, "wise", "owl") + line("old", 2, error="timeout", calls=3)
    (folder / "00001.jsonl").write_text(second + line("null", 0, "none"))
    counts, skipped = tally_associations(tmp_path)
    assert counts.rows() == [
        ("old", "age", 1), ("old", "wise", 1), ("old", "owl", 1), ("null", "none", 1),
    ]  # fmt: skip
    assert skipped == {"malformed": 3, "failed": 1, "repeated": 1, "missing": 1, "doubled": 1}
    assert read_associations(folder, responses="R1").rows() == [
        ("old", "age", 1), ("old", "wise", 1), ("null", "none", 1),
    ]  # fmt: skip


def test_shards_in_many_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "".join(line("old", number, "age", f"w{number % 3}") for number in range(10))
    write(tmp_path, "00000.jsonl", text)
    in_one_piece = read_associations(tmp_path)
    monkeypatch.setattr(loading, "LINES", 3)
    assert read_associations(tmp_path).rows() == in_one_piece.rows()
    assert in_one_piece.rows()[0] == ("old", "age", 10)


@pytest.mark.parametrize(
    "bad", ['{"cue": 1, "repetition": 0, "responses": []}', '{"cue": "a", "responses": ["b"]}',
            '{"cue": "a", "repetition": 0, "responses": "b"}', "null", "[" * 100_000,
            '{"cue": " ", "repetition": 0, "responses": ["b"]}',
            '{"cue": "a", "repetition": 0, "responses": [null]}'],
)  # fmt: skip
def test_a_malformed_line_is_skipped_and_counted(tmp_path: Path, bad: str) -> None:
    write(tmp_path, "0.jsonl", bad + "\n" + line("old", 0, "age"))
    counts, skipped = tally_associations(tmp_path)
    assert (counts.height, skipped["malformed"]) == (1, 1)


def test_shards_of_two_models_are_not_mixed(tmp_path: Path) -> None:
    for model in ("a", "b"):
        (tmp_path / "answers" / model).mkdir(parents=True)
        write(tmp_path / "answers" / model, "00000.jsonl", line("old", 0, "age"))
    with pytest.raises(InputError, match=r"answers of several models; name one: .*answers/a, "):
        read_associations(tmp_path)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [("a.csv", "cue,answer\na,b\n", "columns cue, answer; associations have cue and response"),
     ("a.csv", "cue,response\n", "a.csv: no answers"),
     ("a.csv", "cue,R1,R2,R3\na,,,\n", "a.csv: no answers"),
     ("a.csv", 'cue,response\na,"b\n', "a.csv:2: malformed"),
     ("a.xlsx", "", "ending '.xlsx'; allowed are .csv, .tsv, .txt, .parquet"),
     ("b/a.jsonl", "", "no such file")],
)  # fmt: skip
def test_associations_that_are_none(tmp_path: Path, name: str, text: str, message: str) -> None:
    path = tmp_path / "b.csv" if "/" in name else write(tmp_path, name, text)
    with pytest.raises(InputError, match=message):
        read_associations(path)


def test_an_empty_directory(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no \.jsonl file"):
        read_associations(tmp_path)


def test_broken_bytes(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv.gz", "cue,response\n" + "a,b\n" * 1000)
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(InputError, match="broken gzip file"):
        read_associations(path)
    (tmp_path / "a.csv").write_bytes(b"cue,response\na,\xff\n")
    with pytest.raises(InputError, match="not UTF-8"):
        read_associations(tmp_path / "a.csv")


def test_responses_have_a_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="responses 'R2'; allowed are R1, R123"):
        read_associations(tmp_path, responses="R2")


def test_a_path_may_be_text(tmp_path: Path) -> None:
    path = str(tmp_path / "net.csv")
    Path(path).write_text("src,tgt,wt\nold,age,3\n", encoding="utf-8")
    assert read_network(path).name == "net"
    Path(path).write_text("cue,response\nold,age\n", encoding="utf-8")
    assert read_associations(path).rows() == [("old", "age", 1)]
    Path(path).write_text("word,valence\nold,0.5\n", encoding="utf-8")
    assert read_valence(path) == {"old": 0.5}
