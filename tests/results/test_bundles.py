"""Reading a bundle: checked, unpacked to a folder of its name, and gone at the end."""

import hashlib
import json
import stat
import warnings
import zipfile

import pytest

from clinometer.errors import ClinometerWarning, InputError, PlanError
from clinometer.packed import SMALL
from clinometer.results.bundles import alterations, seal_line, unpack, unpacked, write_archive


def make(folder, **changed):
    """Write a bundle of one file; `changed` are the contents of files that the manifest lacks."""
    files = {"card.html": b"<p>All is well.</p>"}
    listed = {name: {"sha256": hashlib.sha256(data).hexdigest()} for name, data in files.items()}
    files["manifest.json"] = json.dumps({"files": listed}).encode()
    (folder / "made").mkdir()
    for name, data in (files | changed).items():
        (folder / "made" / name).write_bytes(data)
    (folder / "made" / "SHA256").write_text(seal_line(folder / "made" / "manifest.json"))
    write_archive(folder / "run.zip", {file.name: file for file in (folder / "made").iterdir()})
    return folder / "run.zip"


def test_a_bundle_is_a_directory_of_its_name_as_long_as_it_is_read(tmp_path):
    with unpacked(make(tmp_path)) as directory:
        assert (directory / "card.html").read_bytes() == b"<p>All is well.</p>"
        assert directory.name == "run.zip"
    assert not directory.parent.exists()


def test_a_directory_is_itself(tmp_path):
    (tmp_path / "run.zip").mkdir()
    with unpacked(tmp_path / "run.zip") as directory:
        assert directory == tmp_path / "run.zip"


@pytest.mark.parametrize("name", ["card.html", "plan.json"])
def test_a_file_that_is_not_as_in_the_manifest_is_named(tmp_path, name):
    archive = make(tmp_path, **{name: b"changed"})
    problem = f"^{archive}: changed since it was bundled: {name}: "
    with pytest.raises(InputError, match=problem), unpacked(archive):
        pytest.fail("a changed bundle was read")


def test_a_comment_on_the_archive_is_said(tmp_path):
    archive = make(tmp_path)
    with zipfile.ZipFile(archive, "a") as opened:
        opened.comment = b"All is well."
    with pytest.warns(ClinometerWarning, match="packed again: "), unpacked(archive) as directory:
        assert (directory / "card.html").is_file()


def pack_again(archive, method=zipfile.ZIP_DEFLATED, top="", **extra):
    """Write the files of an archive again, in a folder and with other files."""
    again = archive.with_name("again.zip")
    with zipfile.ZipFile(archive) as old, zipfile.ZipFile(again, "w", method) as new:
        for name in old.namelist():
            new.writestr(top + name, old.read(name))
        for name, data in extra.items():
            new.writestr(name, data)
    return again


@pytest.mark.parametrize(
    ("options", "system_files"),
    [
        ({}, ""),
        ({"method": zipfile.ZIP_STORED}, ""),
        ({"top": "new/", "new/": b""}, ""),
        ({"top": "a/b/"}, ""),
        ({"top": "new\\"}, ""),
        ({"Thumbs.db": b"x", "Desktop.ini": b"x"}, "Thumbs.db, Desktop.ini"),
        ({"top": "new/", "new/.DS_Store": b"x", "__MACOSX/new/._card.html": b"x"},
         "new/.DS_Store, __MACOSX/"),
        ({"._card.html": b"x"}, "._card.html"),
    ],
)  # fmt: skip
def test_an_archive_that_was_packed_again_is_read_and_said_to_be(tmp_path, options, system_files):
    archive = make(tmp_path)
    published = unpack(archive, tmp_path / "published")
    again = unpack(pack_again(archive, **options), tmp_path / "folder")
    assert published.packing == "" and published.files.keys() == again.files.keys()
    assert again.packing.startswith("packed again: the files are those of the manifest; ")
    assert again.packing.partition("not looked at: ")[2] == system_files
    assert alterations(again.files) == []


def test_the_folder_that_a_bundle_was_unpacked_to_is_one(tmp_path):
    archive = make(tmp_path)
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(tmp_path / "run")
    bundle = unpack(tmp_path / "run", tmp_path / "folder")
    assert bundle.packing.startswith("unpacked: ") and alterations(bundle.files) == []
    (tmp_path / "run" / "card.html").write_bytes(b"changed")
    assert alterations(unpack(tmp_path / "run", tmp_path / "2").files) == ["card.html: changed"]


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("card.html", "stands twice"),
        ("notes.txt", "not in the manifest"),
        ("../card.html", "leads outside"),
        ("C:\\card.html", "leads outside"),
    ],
)
def test_what_was_put_into_an_archive_packed_again_is_refused(tmp_path, name, problem):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # zipfile's, of a name that stands twice
        again = pack_again(make(tmp_path), **{name: b"x"})
    with pytest.raises(InputError, match=problem), unpacked(again):
        pytest.fail("another file was read")


def test_a_link_in_a_folder_is_refused(tmp_path):
    make(tmp_path)
    (tmp_path / "made" / "card.html").unlink()
    (tmp_path / "made" / "card.html").symlink_to("/etc/passwd")
    with pytest.raises(InputError, match="a link"):
        unpack(tmp_path / "made", tmp_path / "folder")


def test_a_link_is_refused(tmp_path):
    entry = zipfile.ZipInfo("report.html")
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "run.zip", "w") as archive:
        archive.writestr(entry, "/etc/passwd")
    with pytest.raises(InputError, match="a link"), unpacked(tmp_path / "run.zip"):
        pytest.fail("a link was unpacked")


def test_a_bomb_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "run.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("card.html", bytes(SMALL + 1))
    with pytest.raises(InputError, match="unpack to more"), unpacked(tmp_path / "run.zip"):
        pytest.fail("a bomb was unpacked")


def test_an_error_of_the_reader_names_the_bundle(tmp_path):
    archive = make(tmp_path)
    with pytest.raises(PlanError) as error, unpacked(archive) as directory:
        raise PlanError(f"{directory / 'plan.json'}: not a plan")
    assert str(error.value) == f"{archive}/plan.json: not a plan"
