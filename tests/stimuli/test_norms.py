"""Norms: tables of ratings that a study names, read, refused and kept with the study."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
import yaml

from clinometer.asking.plan import _study_text
from clinometer.errors import StudyError
from clinometer.stimuli import load_study, study_hash

STUDY = """name: own
norms: {norms}
instruments:
  group_traits:
    pairs:
      warmth: [[cold, warm]]
stereotypes:
  nurses: {{category: work, marginalized: [nurses], default: [people]}}
  judges: {{category: work, label: Judges, marginalized: [the judges], default: [people]}}
"""
HEAD = "annotator,group,trait_low,trait_high,rating\n"
ROWS = "a,nurses,cold,warm,90\nb,NURSES,cold,warm,70\na,judges,cold,warm,30\n"


def write(folder: Path, table: str | bytes = HEAD + ROWS, norms: str = "n.csv") -> Path:
    """Write a study and the table of its norms; return the path of the study."""
    study = folder / "own.yaml"
    study.write_text(STUDY.format(norms=norms))
    content = table.encode() if isinstance(table, str) else table
    (folder / "n.csv").write_bytes(content)
    return study


def test_ratings_find_their_stereotype_by_any_of_its_names(tmp_path: Path) -> None:
    ratings = load_study(write(tmp_path)).ratings()
    assert ratings["stereotype"].to_list() == ["nurses", "nurses", "judges"]
    assert ratings["rating"].to_list() == [90, 70, 30]


def test_annotators_may_be_missing_and_other_columns_stand_beside(tmp_path: Path) -> None:
    table = "rating,group,year,trait_high,trait_low\n50,nurses,1999,warm,cold\n"
    ratings = load_study(write(tmp_path, table)).ratings()
    assert ratings.select("annotator", "rating").row(0) == (None, 50)


def test_a_packed_table_is_read(tmp_path: Path) -> None:
    study = write(tmp_path, norms="n.csv.gz")
    (tmp_path / "n.csv.gz").write_bytes(gzip.compress((HEAD + ROWS).encode()))
    assert load_study(study).ratings().height == 3


@pytest.mark.parametrize("head", ["rating 1 to 7", "Rating (1-7)"])
def test_a_scale_that_is_stated_is_brought_to_0_to_100(tmp_path: Path, head: str) -> None:
    rows = "a,nurses,cold,warm,1\na,judges,cold,warm,4\nb,judges,cold,warm,7\n"
    ratings = load_study(write(tmp_path, HEAD.replace("rating", head) + rows)).ratings()
    assert ratings["rating"].to_list() == [0, 50, 100]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("group,trait_low,rating\nnurses,cold,51\n", "norms n.csv: missing column trait_high; has"),
        (HEAD, "norms n.csv: no ratings"),
        ("", "norms n.csv: not a table in CSV"),
        (HEAD + ROWS + "c,judges,cold,warm,high\n", "row 5: rating 'high'; expected 0 to 100"),
        (HEAD + "c,judges,cold,warm,100.5\n", "row 2: rating '100.5'"),
        (HEAD + "c,judges,cold,warm,nan\n", "row 2: rating 'nan'"),
        (HEAD + "c,judges,cold,warm,\n", "row 2: rating ''"),
        (HEAD + "c,,cold,warm,51\n", "row 2: group, trait_low or trait_high is empty"),
        (HEAD + "c,kings,cold,warm,51\n", "norms: no stereotype has the group 'kings'"),
        (HEAD + "c,nurses,cold,warm,1\nc,judges,cold,warm,7\n",
         "norms n.csv: ratings from 1 to 7; expected 0 to 100. If people rated on another scale"),
        (HEAD.replace("rating", "rating 1 to 5") + "c,nurses,cold,warm,7\n", "expected 1 to 5"),
        (HEAD + "c," + "x" * 2_000_000, "norms n.csv: larger than 2 MB"),
        (b"\xff\xfe\x00", "norms n.csv: cannot be read as CSV in UTF-8"),
    ],
)  # fmt: skip
def test_a_malformed_table_is_refused_in_one_line(
    tmp_path: Path, table: str | bytes, message: str
) -> None:
    with pytest.raises(StudyError) as error:
        load_study(write(tmp_path, table))
    assert message in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("norms", ["../n.csv", "/etc/passwd", "n.txt", "a/n.csv", "..csv"])
def test_a_file_elsewhere_is_refused(tmp_path: Path, norms: str) -> None:
    with pytest.raises(StudyError, match="expected the name of a file beside the study file"):
        load_study(write(tmp_path, norms=norms))


def test_a_missing_file_and_a_table_in_a_packed_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="norms other.csv: no such file in"):
        load_study(write(tmp_path, norms="other.csv"))
    study = write(tmp_path, norms="n.csv.gz")
    (tmp_path / "n.csv.gz").write_bytes(b"not packed")
    with pytest.raises(StudyError, match="norms n.csv.gz: cannot be read"):
        load_study(study)


def test_a_packed_table_is_not_unpacked_beyond_the_limit(tmp_path: Path) -> None:
    study = write(tmp_path, norms="n.csv.gz")
    (tmp_path / "n.csv.gz").write_bytes(gzip.compress(b"0" * 50_000_000))
    with pytest.raises(StudyError, match="norms n.csv.gz: larger than 2 MB"):
        load_study(study)


def test_norms_count_in_the_hash_and_are_read_anew_where_they_changed(tmp_path: Path) -> None:
    study = write(tmp_path)
    before = study_hash(load_study(study))
    write(tmp_path, HEAD + ROWS.replace("90", "91"))
    assert study_hash(load_study(study)) != before


def test_a_study_that_was_kept_needs_no_file(tmp_path: Path) -> None:
    study = load_study(write(tmp_path))
    stored = tmp_path / "elsewhere" / "own.yaml"
    stored.parent.mkdir()
    stored.write_text(_study_text(study))
    assert load_study(stored) == study and study_hash(load_study(stored)) == study_hash(study)


def test_a_study_without_norms_keeps_its_hash(tmp_path: Path) -> None:
    """And is read from a results directory, where the field is empty."""
    study = load_study("control_insects")
    stored = tmp_path / "control_insects.yaml"
    stored.write_text(_study_text(study))
    assert yaml.safe_load(stored.read_text())["norms"] == ""
    assert study_hash(load_study(stored)) == study_hash(study)
    assert load_study(stored).ratings().is_empty()


@pytest.mark.parametrize("key", ["norms", '"norms"', "'norms' "])
def test_a_changed_table_is_read_again_however_its_key_is_written(tmp_path: Path, key: str) -> None:
    study = write(tmp_path)
    study.write_text(study.read_text().replace("norms:", f"{key}:"))
    before = load_study(study).ratings()
    write(tmp_path, HEAD + ROWS.replace("30", "31"))
    study.write_text(study.read_text().replace("norms:", f"{key}:"))
    after = load_study(study).ratings()
    assert (before["rating"][2], after["rating"][2]) == (30, 31)


def test_a_study_without_norms_is_parsed_once(tmp_path: Path) -> None:
    study = tmp_path / "plain.yaml"
    study.write_text(STUDY.replace("norms: {norms}\n", "").replace("{{", "{").replace("}}", "}"))
    assert load_study(study) is load_study(study)
