"""Tables of items that a study names."""

import gzip
import hashlib
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from clinometer.errors import StudyError
from clinometer.instruments.bbq import BbqPart
from clinometer.stimuli import BenchmarkItems, bring_items, load_study, read_items

TEXT = b"id,question\n1,null\n2,\n"


def items(file: str, content: bytes) -> BenchmarkItems:
    return BenchmarkItems(
        file=file, sha256=hashlib.sha256(content).hexdigest(), source="example.org"
    )


@pytest.mark.parametrize("file", ["a.csv", "a.csv.gz"])
def test_a_table_of_texts_beside_the_study(tmp_path: Path, file: str) -> None:
    content = gzip.compress(TEXT) if file.endswith("gz") else TEXT
    (tmp_path / file).write_bytes(content)
    table = read_items(items(file, content), str(tmp_path / "study.yaml"))
    assert table.rows() == [("1", "null"), ("2", "")]


def test_a_folder_of_items(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.csv").write_bytes(TEXT)
    monkeypatch.setenv("CLINOMETER_ITEMS", str(tmp_path))
    assert read_items(items("a.csv", TEXT)).height == 2


def test_a_shipped_study_has_nothing_of_the_folder_one_stands_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Answers may have the name of its items."""
    (tmp_path / "bbq.csv.gz").write_bytes(b"model,response")
    monkeypatch.chdir(tmp_path)
    part = load_study("bbq").instruments.read("bbq", BbqPart)
    assert part is not None and read_items(part.items, "bbq.yaml").height > 10_000


def test_missing_items_say_where_they_can_be_had(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"items b.csv: no such file .* had from example.org"):
        read_items(items("b.csv", TEXT), str(tmp_path / "study.yaml"))


def test_changed_items_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(TEXT + b"3,new\n")
    with pytest.raises(StudyError, match="SHA-256"):
        read_items(items("a.csv", TEXT), str(tmp_path / "study.yaml"))


def test_what_is_no_table_is_refused(tmp_path: Path) -> None:
    content = b"id,question\n1,2,3\n"
    (tmp_path / "a.csv").write_bytes(content)
    with pytest.raises(StudyError, match="not a table"):
        read_items(items("a.csv", content), str(tmp_path / "study.yaml"))


@pytest.mark.parametrize("file", ["../a.csv", "/etc/a.csv", "a.txt"])
def test_a_file_is_a_name_without_folders(file: str) -> None:
    with pytest.raises(ValueError, match="file"):
        items(file, TEXT)


# Items that are made of released files


@pytest.fixture
def released(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Serve two released files on the loopback interface; gives their address."""
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "a.json").write_bytes(b"id,question\n")
    (tmp_path / "files" / "b.json").write_bytes(b"1,null\n2,\n")
    monkeypatch.setenv("CLINOMETER_ITEMS", str(tmp_path / "items"))
    monkeypatch.setattr(SimpleHTTPRequestHandler, "log_message", lambda *_: None)
    files = partial(SimpleHTTPRequestHandler, directory=str(tmp_path / "files"))
    server = ThreadingHTTPServer(("127.0.0.1", 0), files)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def make_items(*addresses: str, content: bytes = TEXT) -> BenchmarkItems:
    return items("made.csv", content).model_copy(update={"made_of": addresses})


def join(files: dict[str, bytes]) -> bytes:
    return b"".join(files.values())


def test_items_are_made_of_what_is_downloaded(released: str, tmp_path: Path) -> None:
    items = make_items(f"{released}/a.json", f"{released}/b.json")
    with pytest.raises(StudyError, match=r"made.csv: no such file .* clinometer items study, or"):
        read_items(items, "study.yaml")
    assert bring_items(items, join) == tmp_path / "items" / "made.csv"
    assert read_items(items).height == 2


def test_items_are_made_of_a_folder(released: str, tmp_path: Path) -> None:
    items = make_items("http://nowhere.invalid/a.json", "http://nowhere.invalid/b.json")
    bring_items(items, join, tmp_path / "files")
    assert read_items(items).height == 2
    with pytest.raises(StudyError, match="a.json: no such file"):
        bring_items(items, join, tmp_path)


def test_other_files_than_the_study_names_leave_nothing(released: str, tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="made of b.json, its SHA-256 is .*; the study names"):
        bring_items(make_items(f"{released}/b.json"), join)
    with pytest.raises(StudyError, match=f"items {released}/c.json: File not found; or download"):
        bring_items(make_items(f"{released}/c.json"), join)
    assert not (tmp_path / "items").exists()


def test_an_address_is_of_the_web() -> None:
    with pytest.raises(ValueError, match="made_of"):
        BenchmarkItems(file="a.csv", sha256="0" * 64, made_of=("file:///etc/passwd",))
