"""Reading a bundle: checked, unpacked to a folder of its name, and gone at the end."""

import hashlib
import json
import stat
import zipfile

import pytest

from clinometer.errors import InputError, PlanError
from clinometer.results.bundles import seal_line, unpacked, write_archive


def make(folder, **changed):
    """Write a bundle of one file; `changed` are the contents of files that the manifest lacks."""
    files = {"report.html": b"<p>All is well.</p>"}
    listed = {name: {"sha256": hashlib.sha256(data).hexdigest()} for name, data in files.items()}
    files["manifest.json"] = json.dumps({"files": listed}).encode()
    (folder / "made").mkdir()
    for name, data in (files | changed).items():
        (folder / "made" / name).write_bytes(data)
    (folder / "made" / "SHA256").write_text(seal_line(folder / "made" / "manifest.json"))
    write_archive(folder / "run.zip", {one.name: one for one in (folder / "made").iterdir()})
    return folder / "run.zip"


def test_a_bundle_is_a_directory_of_its_name_as_long_as_it_is_read(tmp_path):
    with unpacked(make(tmp_path)) as directory:
        assert (directory / "report.html").read_bytes() == b"<p>All is well.</p>"
        assert directory.name == "run.zip"
    assert not directory.parent.exists()


def test_a_directory_is_itself(tmp_path):
    (tmp_path / "run.zip").mkdir()
    with unpacked(tmp_path / "run.zip") as directory:
        assert directory == tmp_path / "run.zip"


@pytest.mark.parametrize("name", ["report.html", "plan.json"])
def test_a_file_that_is_not_as_in_the_manifest_is_named(tmp_path, name):
    archive = make(tmp_path, **{name: b"changed"})
    problem = f"^{archive}: changed since it was bundled: {name}: "
    with pytest.raises(InputError, match=problem), unpacked(archive):
        pytest.fail("a changed bundle was read")


def test_a_comment_on_the_archive_is_a_change(tmp_path):
    archive = make(tmp_path)
    with zipfile.ZipFile(archive, "a") as opened:
        opened.comment = b"All is well."
    with pytest.raises(InputError, match="bytes around the files"), unpacked(archive):
        pytest.fail("a changed bundle was read")


def test_a_link_is_refused(tmp_path):
    entry = zipfile.ZipInfo("report.html")
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "run.zip", "w") as archive:
        archive.writestr(entry, "/etc/passwd")
    with pytest.raises(InputError, match="not as a bundle has it"), unpacked(tmp_path / "run.zip"):
        pytest.fail("a link was unpacked")


def test_what_would_grow_when_it_is_unpacked_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "run.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("report.html", bytes(1 << 20))
    with pytest.raises(InputError, match="not a bundle"), unpacked(tmp_path / "run.zip"):
        pytest.fail("a compressed file was unpacked")


def test_an_error_of_the_reader_names_the_bundle(tmp_path):
    archive = make(tmp_path)
    with pytest.raises(PlanError) as error, unpacked(archive) as directory:
        raise PlanError(f"{directory / 'plan.json'}: not a plan")
    assert str(error.value) == f"{archive}/plan.json: not a plan"
