"""Bundles: the same bytes, every changed byte caught, every number recomputed."""

import copy
import hashlib
import json
import random
import shutil
import zipfile

import polars as pl
import pytest

from clinometer.audits.recording import audit_recorded
from clinometer.audits.tabulating import tabulate
from clinometer.cli.evidence import bundle_command, verify_command
from clinometer.comparing.bundling import bundle
from clinometer.comparing.verifying import _compare_tables, verify
from clinometer.directory.results import write_results
from clinometer.errors import InputError
from clinometer.report.card import card_page
from clinometer.results import ESTIMATES
from clinometer.results.bundles import write_archive

LINES = "weak - {0}\ntimid - {0}\nstrong - {1}\ncommand - {1}\nfollow - {0}\nsubmissive - {0}\n" \
    "confident - {1}\ndominant - {1}"  # fmt: skip


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A results directory of recorded answers."""
    folder = tmp_path_factory.mktemp("bundled")
    texts = [LINES.format("karen", "eric"), LINES.format("eric", "karen"), "No."]
    pl.DataFrame(
        {"model": "m", "stereotype": "power", "variation": "replication", "iteration": range(9),
         "response": 3 * texts}
    ).write_csv(folder / "answers.csv")  # fmt: skip
    audit_recorded(folder / "answers.csv", folder / "out")
    return folder / "out"


@pytest.fixture(scope="module")
def archive(results, tmp_path_factory):
    return bundle(
        results, tmp_path_factory.mktemp("archive") / "run.zip", {"auditor": "A. Auditor"}
    )


def rewritten(archive, target, change):
    """Write the archive again, with changed content; the manifest stays."""
    with zipfile.ZipFile(archive) as old, zipfile.ZipFile(target, "w") as new:
        for entry in old.infolist():
            data = change(entry.filename, old.read(entry))
            if data is not None:
                new.writestr(entry, data)
    return target


def test_the_same_run_gives_the_same_bytes(results, archive, tmp_path):
    again = bundle(results, tmp_path / "again.zip", {"auditor": "A. Auditor"})
    assert again.read_bytes() == archive.read_bytes()


def test_what_was_not_changed_holds_and_was_recomputed(archive):
    verification = verify(archive)
    assert verification.holds, verification.problems
    assert {"estimates", "scores", "items"} <= set(verification.tables)


def test_any_changed_byte_is_caught(archive, tmp_path):
    data, rng = archive.read_bytes(), random.Random(0)
    header, directory = range(40), range(len(data) - 400, len(data))
    ends = [*rng.sample(header, 15), *rng.sample(directory, 40)]
    for place in [*ends, *(rng.randrange(len(data)) for _ in range(45))]:
        changed = bytearray(data)
        changed[place] ^= 1 << rng.randrange(8)
        (tmp_path / "changed.zip").write_bytes(changed)
        try:
            verification = verify(tmp_path / "changed.zip")
            assert verification.problems or verification.packing.startswith("packed again: "), place
        except InputError:
            continue  # no archive any more


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda n, d: d + b" " if n == "plan.json" else d, "plan.json: changed"),
        (lambda n, d: None if n == "scores.parquet" else d, "scores.parquet: missing"),
        (lambda n, d: None if n == "manifest.json" else d, "manifest.json: missing"),
        (lambda n, d: d + b" " if n == "manifest.json" else d, "not the one that SHA256 names"),
    ],
)
def test_what_was_changed_is_named(archive, tmp_path, change, problem):
    verification = verify(rewritten(archive, tmp_path / "changed.zip", change))
    assert any(problem in line for line in verification.problems)


def test_numbers_that_do_not_follow_from_the_answers_are_caught(results, tmp_path):
    """The files agree with their manifest, but the estimates are not those of the answers."""
    forged = tmp_path / "forged"
    shutil.copytree(results, forged)
    path = forged / "estimates.parquet"
    estimates = pl.read_parquet(path)
    estimates.with_columns(estimate=pl.col("estimate") + 0.1).write_parquet(path)
    verification = verify(bundle(forged, tmp_path / "forged.zip"))
    assert len(verification.problems) == 1
    assert verification.problems[0].startswith("estimates.parquet: estimate differs in ")


@pytest.mark.parametrize("name", ["../evil", "/etc/evil", "a/../../evil"])
def test_names_that_lead_outside_are_refused(tmp_path, name):
    with zipfile.ZipFile(tmp_path / "evil.zip", "w") as archive:
        archive.writestr(name, "x")
    with pytest.raises(InputError, match="leads outside of the archive"):
        verify(tmp_path / "evil.zip")


def test_the_card_says_who_and_what_is_not_stated(archive):
    with zipfile.ZipFile(archive) as opened:
        card = json.loads(opened.read("card.json"))
    assert (card["auditor"], card["scope"]) == ("A. Auditor", "not stated")
    assert card["models"] == ["m"] and card["method"]["recorded"]["file"] == "answers.csv"


def test_the_commands_say_the_seal_and_have_exit_codes(results, tmp_path, capsys):
    out = tmp_path / "run.zip"
    for command, arguments in (
        (bundle_command, [str(results), "--out", str(out)]),
        (verify_command, [str(out)]),
    ):
        with pytest.raises(SystemExit) as stop:
            command.main(arguments, standalone_mode=False)
        assert stop.value.code == 0
    lines = capsys.readouterr().out.splitlines()
    assert len({line for line in lines if line.startswith("seal ")}) == 1
    changed = rewritten(out, tmp_path / "x.zip", lambda n, d: d + b" " if n == "plan.json" else d)
    with pytest.raises(SystemExit) as stop:
        verify_command.main([str(changed)], standalone_mode=False)
    assert stop.value.code == 1


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x05\x06" + bytes(18)])
def test_what_is_no_bundle_is_refused(tmp_path, content):
    (tmp_path / "x.zip").write_bytes(content)
    with pytest.raises(InputError, match=r"x\.zip: not a (zip archive|bundle)"):
        verify(tmp_path / "x.zip")


def test_networks_by_themselves_are_bundled_and_known_by_their_hash(tmp_path):
    write_results(tmp_path / "nets", "networks", pl.DataFrame(schema=ESTIMATES), {})
    (tmp_path / "nets" / "networks.json").write_text("{}")
    verification = verify(bundle(tmp_path / "nets", tmp_path / "nets.zip"))
    assert (verification.problems, verification.follows, verification.tables) == ((), None, ())
    assert not verification.holds and {"estimates.parquet", "networks.json"} <= set(
        verification.as_stored
    )


def test_the_rules_by_which_answers_were_scored_are_those_of_the_bundle(results, tmp_path):
    published = tmp_path / "published"
    shutil.copytree(results, published)
    tabulate(published, "published")
    verification = verify(bundle(published, tmp_path / "published.zip"))
    assert verification.holds, verification.problems


def forged(results, folder, change):
    """Bundle a changed copy of results: every file agrees with the manifest."""
    shutil.copytree(results, folder / "forged")
    change(folder / "forged")
    return bundle(folder / "forged", folder / "forged.zip")


@pytest.mark.parametrize("number", [float("-inf"), float("inf"), float("nan")])
def test_an_infinite_number_is_no_rounding(results, tmp_path, number):
    def change(folder):
        path = folder / "estimates.parquet"
        pl.read_parquet(path).with_columns(ci_low=number).write_parquet(path)

    verification = verify(forged(results, tmp_path, change))
    assert verification.follows is False
    assert [line.split(" differs")[0] for line in verification.differing] == [
        "estimates.parquet: ci_low"
    ]


def resealed(archive, target, change):
    """Write an archive with changed files, and a manifest and a seal that fit them."""
    with zipfile.ZipFile(archive) as old:
        files = {name: old.read(name) for name in old.namelist()}
    change(files)
    manifest = json.loads(files["manifest.json"])
    manifest["files"] = {
        name: {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
        for name, data in sorted(files.items())
        if name not in ("manifest.json", "SHA256")
    }
    return sealed(files, manifest, target)


def remanifested(archive, target, change):
    """Write an archive with a changed manifest, and a seal that fits it."""
    with zipfile.ZipFile(archive) as old:
        files = {name: old.read(name) for name in old.namelist()}
    manifest = json.loads(files["manifest.json"])
    change(manifest)
    return sealed(files, manifest, target)


def sealed(files, manifest, target):
    """Write an archive of files and a manifest, with its seal."""
    text = json.dumps(manifest, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    files["manifest.json"] = text.encode()
    seal = hashlib.sha256(files["manifest.json"]).hexdigest()
    files["SHA256"] = f"{seal}  manifest.json\n".encode()
    folder = target.with_suffix("")
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    write_archive(target, {name: folder / name for name in files})
    return target


def change_card(files, **changes):
    files["card.json"] = (
        json.dumps({**json.loads(files["card.json"]), **changes}, indent=1, ensure_ascii=False,
                   sort_keys=True) + "\n"
    ).encode()  # fmt: skip


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda files: change_card(files, models=["another"]), "card.json: recomputing"),
        (lambda files: files.update({"deviations.json": b"[1]\n"}), "deviations.json: recomputing"),
        (lambda files: files.update({"hidden/run.sh": b"x"}), "hidden/run.sh: no file of a bundle"),
        (lambda files: files.update({"x.exe": b"x"}), "x.exe: no file of a bundle"),
    ],
)
def test_what_fits_its_manifest_and_does_not_follow_is_caught(archive, tmp_path, change, message):
    verification = verify(resealed(archive, tmp_path / "other.zip", change))
    assert any(line.startswith(message) for line in verification.problems), verification.problems


def test_what_the_auditor_states_and_logs_are_as_stored_and_that_is_said(archive, tmp_path):
    def change(files):
        change_card(files, auditor="B. Auditor")
        files["card.html"] = card_page(json.loads(files["card.json"])).encode()
        files["logs/a.eval"] = b"anything"

    verification = verify(resealed(archive, tmp_path / "other.zip", change))
    assert verification.holds and verification.as_stored == (
        "logs/a.eval",
        "card.json (its auditor)",
    )


@pytest.mark.parametrize("name", ["report.html", "README.md", "estimates.csv", "logs/page.html"])
def test_a_page_that_was_put_in_is_no_file_of_a_bundle(archive, tmp_path, name):
    def change(files):
        files[name] = b"<p>All is well.</p>"

    verification = verify(resealed(archive, tmp_path / "other.zip", change))
    assert verification.problems == (f"{name}: no file of a bundle",)


def test_what_the_manifest_says_besides_hashes_is_recomputed(archive, tmp_path):
    def change(manifest):
        manifest["simulated"] = True

    verification = verify(remanifested(archive, tmp_path / "other.zip", change))
    assert verification.problems == ("manifest.json: recomputing gives another",)


@pytest.mark.parametrize("version", ["0.1.0", "9.0"])
def test_a_bundle_of_another_version_is_to_be_recomputed_with_it(
    archive, tmp_path, capsys, version
):
    def change(manifest):
        manifest["clinometer"] = version

    changed_archive = remanifested(archive, tmp_path / "other.zip", change)
    with pytest.raises(SystemExit) as stop:
        verify_command.main([str(changed_archive)], standalone_mode=False)
    assert stop.value.code == 3
    text = capsys.readouterr().out
    assert f"made by Clinometer {version}, " in text and f"clinometer=={version}" in text
    assert "unchanged: yes" in text


def test_a_version_that_is_no_number_is_in_no_command(archive, tmp_path):
    def change(manifest):
        manifest["clinometer"] = "0.1; rm -rf ~"

    verification = verify(remanifested(archive, tmp_path / "other.zip", change))
    assert verification.version == "(unknown version)" and verification.follows is None


def test_logs_are_bundled_where_that_is_asked_for(results, tmp_path):
    shutil.copytree(results, tmp_path / "run")
    (tmp_path / "run" / "logs").mkdir()
    with zipfile.ZipFile(tmp_path / "run" / "logs" / "a.eval", "w") as log:
        log.writestr("header.json", "{}")
    for logs in (False, True):
        with zipfile.ZipFile(bundle(tmp_path / "run", tmp_path / "run.zip", logs=logs)) as packed:
            assert ("logs/a.eval" in packed.namelist()) is logs


def test_the_page_of_the_card_states_the_same_auditor(archive, tmp_path):
    verification = verify(
        resealed(archive, tmp_path / "o.zip", lambda files: change_card(files, auditor="B."))
    )
    assert verification.problems == ("card.html: recomputing gives another",)


def test_an_entry_that_claims_to_be_encrypted_is_no_bundle(archive, tmp_path):
    data = bytearray(archive.read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1
    (tmp_path / "x.zip").write_bytes(data)
    with pytest.raises(InputError, match="encrypted"):
        verify(tmp_path / "x.zip")


def test_without_a_plan_nothing_follows(results, tmp_path, capsys):
    (tmp_path / "tables").mkdir()
    shutil.copy(results / "estimates.parquet", tmp_path / "tables")
    verification = verify(bundle(tmp_path / "tables", tmp_path / "run.zip"))
    assert (verification.problems, verification.follows, verification.holds) == ((), None, False)
    with pytest.raises(SystemExit) as stop:
        verify_command.main([str(tmp_path / "run.zip")], standalone_mode=False)
    assert stop.value.code == 3
    assert "not known, nothing in it could be recomputed" in capsys.readouterr().out


def test_overlapping_files_are_refused(archive, tmp_path):
    """A directory that names one large file many times unpacks to more than there is."""
    with zipfile.ZipFile(tmp_path / "twice.zip", "w") as twice:
        twice.writestr("a", bytes(10_000))
        for number in range(50):
            entry = copy.copy(twice.infolist()[0])
            entry.filename = f"a{number}"
            twice.filelist.append(entry)
            twice.NameToInfo[entry.filename] = entry
    with pytest.raises(InputError, match="overlap"):
        verify(tmp_path / "twice.zip")


def test_a_long_table_of_details_is_compared(tmp_path):
    # Polars filters above some 10,000 rows in several threads, where a literal is no column.
    for name, last in (("stated", 1.0), ("again", 2.0)):
        rows = {"trial_id": list(map(str, range(20_000))), "association": [0.5] * 19_999 + [last]}
        pl.DataFrame(rows).write_parquet(tmp_path / f"{name}.parquet")
    stored, again = tmp_path / "stated.parquet", tmp_path / "again.parquet"
    assert list(_compare_tables("chained", stored, stored)) == []
    assert any("association" in problem for problem in _compare_tables("chained", stored, again))
