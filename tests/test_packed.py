"""Packed files are read within a limit; bombs are refused, large honest files are not."""

import gzip
import json
import struct
import zipfile
import zlib

import pytest

from clinometer.errors import InputError, ModelError
from clinometer.packed import MOST_MEMBERS, SMALL, open_archive, open_packed


def size_unpacked(path):
    with open_packed(path) as file:
        return sum(len(chunk) for chunk in iter(lambda: file.read(1 << 20), b""))


def read_archive(path):
    with open_archive(path) as archive:
        return {entry.filename: b"".join(archive.chunks(entry)) for entry in archive.entries}


def write_member(path, data, kind=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", kind) as archive:
        archive.writestr("a.json", data)
    return path


def test_a_large_file_of_the_same_answer_is_read(tmp_path):
    answer = {"model": "m", "response": "weak - karen\ntimid - karen\nstrong - eric\n" * 3}
    lines = (json.dumps(answer) + "\n").encode() * 150_000
    (tmp_path / "a.gz").write_bytes(gzip.compress(lines))
    assert (tmp_path / "a.gz").stat().st_size * 100 < len(lines) > SMALL
    assert size_unpacked(tmp_path / "a.gz") == len(lines)


def test_zeros_are_refused_by_the_error_of_the_caller(tmp_path):
    (tmp_path / "a.gz").write_bytes(gzip.compress(bytes(SMALL + 1)))
    with (
        pytest.raises(ModelError, match=f"a.gz: .* more than the {SMALL:,} "),
        open_packed(tmp_path / "a.gz", error=ModelError) as file,
    ):
        while file.read(1 << 20):
            pass


def test_the_last_size_that_is_allowed_is_read(tmp_path):
    (tmp_path / "a.gz").write_bytes(gzip.compress(bytes(SMALL)))
    assert size_unpacked(tmp_path / "a.gz") == SMALL


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_a_damaged_file_is_named(tmp_path, ending):
    path = tmp_path / f"a{ending}"
    path.write_bytes(b"no packed file")
    with pytest.raises(InputError, match=f"{path}: broken (gzip|zst) file: "):
        size_unpacked(path)


def test_a_member_that_unpacks_to_too_much_is_refused_before_it_is_read(tmp_path):
    path = write_member(tmp_path / "a.zip", bytes(SMALL + 1))
    with pytest.raises(InputError, match=r"a.json: .* unpack to more than"), open_archive(path):
        pytest.fail("a bomb was opened")


@pytest.mark.parametrize("kind", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("stated", [10, 200])
def test_a_member_of_another_size_than_stated_is_refused(tmp_path, kind, stated):
    data = b"hello, " * 20
    raw = bytearray(write_member(tmp_path / "a.zip", data, kind).read_bytes())
    entry = raw.index(b"PK\x01\x02")
    raw[entry + 16 : entry + 20] = struct.pack("<I", zlib.crc32(data[:stated]))
    raw[entry + 24 : entry + 28] = struct.pack("<I", stated)
    (tmp_path / "a.zip").write_bytes(raw)
    with pytest.raises(InputError, match="a.json: "):
        read_archive(tmp_path / "a.zip")


@pytest.mark.parametrize("kind", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_methods_are_refused(tmp_path, kind):
    with pytest.raises(InputError, match="allowed are stored, deflate and zstd"):
        read_archive(write_member(tmp_path / "a.zip", b"x", kind))


def test_too_many_members_are_refused_before_their_names_are_read(tmp_path):
    end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, 0, 0xFFFFFFFF, 0)
    record = struct.pack(
        "<4sQ2H2I4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, MOST_MEMBERS + 1, MOST_MEMBERS + 1, 0, 0
    )
    locator = struct.pack("<4sIQI", b"PK\x06\x07", 0, 0, 1)
    (tmp_path / "a.zip").write_bytes(record + locator + end)
    with pytest.raises(InputError, match=f"too many members; allowed are {MOST_MEMBERS:,}"):
        read_archive(tmp_path / "a.zip")


def test_a_log_with_zstd_members_is_read(tmp_path):
    import inspect_ai.log  # noqa: F401 - teaches zipfile the compression of its logs

    path = write_member(tmp_path / "a.eval", b"header" * 100, 93)
    assert read_archive(path) == {"a.json": b"header" * 100}
