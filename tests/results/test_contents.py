"""What files hold, packed or not, down to the members of logs in a bundle."""

import gzip
import zipfile
from base64 import b64encode

import polars as pl
import pytest

from clinometer.errors import InputError
from clinometer.results.contents import OVERLAP, PIECE, packed_members, refuse_secrets


def write_zip(path, **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(f"{name}.{path.suffix[1:]}" if name == "inner" else name, data)
    return path


def test_members_of_a_log_in_a_bundle_are_given(tmp_path):
    log = write_zip(tmp_path / "a.eval", header=b"hidden")
    with zipfile.ZipFile(tmp_path / "run.zip", "w") as bundle:
        bundle.write(log, "logs/a.eval")
        bundle.writestr("answers/a.jsonl.gz", gzip.compress(b"line"))
    members = dict(packed_members(tmp_path / "run.zip", "run.zip"))
    expected = {"run.zip/logs/a.eval/header": b"hidden", "run.zip/answers/a.jsonl": b"line"}
    assert members == expected


def test_texts_of_a_parquet_table_are_given(tmp_path):
    pl.DataFrame({"error": ["a key: sk-1234"], "n": [1]}).write_parquet(tmp_path / "t.parquet")
    ((_, data),) = packed_members(tmp_path / "t.parquet")
    assert b"a key: sk-1234" in data


def test_what_stands_at_the_end_of_a_piece_is_not_cut(tmp_path):
    key = b"sk-1234567890"
    (tmp_path / "large.jsonl").write_bytes(bytes(PIECE - 5) + key + bytes(10))
    pieces = [data for _, data in packed_members(tmp_path / "large.jsonl")]
    assert any(key in piece for piece in pieces)
    assert all(len(piece) <= PIECE + OVERLAP for piece in pieces)


def test_archives_too_deep_in_each_other_are_refused(tmp_path):
    path = write_zip(tmp_path / "0.zip", text=b"x")
    for number in range(1, 5):
        path = write_zip(tmp_path / f"{number}.zip", inner=path.read_bytes())
    with pytest.raises(InputError, match="more than 3 deep in each other"):
        list(packed_members(path))


def test_many_small_bombs_count_together(tmp_path):
    bomb = write_zip(tmp_path / "a.zip", zeros=bytes(10 << 20)).read_bytes()
    with zipfile.ZipFile(tmp_path / "run.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.zip", bomb)
        archive.writestr("b.zip", bomb)
    with pytest.raises(InputError, match="run.zip: .* unpack to more than"):
        for _ in packed_members(tmp_path / "run.zip"):
            pass


def test_a_key_is_found_in_tables_and_in_members_of_logs(tmp_path, monkeypatch):
    key = "sk-9f8e7d6c5b4a3210"
    pl.DataFrame({"error": ["no key here"]}).write_parquet(tmp_path / "clean.parquet")
    pl.DataFrame({"error": [f"bad {key}"]}).write_parquet(tmp_path / "t.parquet")
    log = write_zip(tmp_path / "a.eval", header=b64encode(f"user:{key}".encode()))
    monkeypatch.setenv("SOME_API_KEY", key)
    refuse_secrets({"clean.parquet": tmp_path / "clean.parquet"})
    for name, path in {"t.parquet": tmp_path / "t.parquet", "logs/a.eval": log}.items():
        with pytest.raises(InputError, match=f"^{name}.* holds a key") as error:
            refuse_secrets({name: path})
        assert key not in str(error.value)
