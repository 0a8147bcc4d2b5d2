"""A dossier of a run: its files, its numbers, and the runs of which there is none."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import clinometer as cm
from clinometer.audits.recording import Recording, audit_recorded
from clinometer.comparing import bundle, gate
from clinometer.dossier.chapters import law_chapter
from clinometer.dossier.pages import dossier_page, public_page
from clinometer.dossier.writing import DossierFiles, write_dossier
from clinometer.errors import InputError
from clinometer.results.tables import read_table, write_table
from clinometer.sharing.ll144 import Counts, law_rates, read_counts, selection_rates, summary

TODAY = date(2026, 12, 1)


def page(files: DossierFiles, name: str) -> str:
    (path,) = (path for path in files.paths if path.name == name)
    return path.read_text(encoding="utf-8")


def test_a_dossier_has_its_files(files: DossierFiles) -> None:
    names = {path.name for path in files.paths}
    (record,) = names - {"dossier.html", "dossier.json", "public-summary.html"}
    assert json.loads(page(files, record))["model_info"]["name"] == "simulated/leaning"
    content = json.loads(page(files, "dossier.json"))
    assert content == json.loads(json.dumps(files.content, default=str))


def test_its_numbers_are_those_of_the_tables(files: DossierFiles, audited: Path) -> None:
    rows = cm.read_results(audited).estimates.filter(
        pl.col("control").is_null() & pl.col("factor").is_null(),
        level="stereotype",
        method="clustered",
        study="bai2025",
        model="simulated/leaning",
        measure="word_association",
    )
    means = {
        mean["about"]["stereotype"]: mean["mean"] for mean in files.content["findings"]["means"]
    }
    assert means == dict(zip(rows["stereotype"], rows["estimate"], strict=True))
    gated = gate(audited, audited / "policy.yaml", model="simulated/leaning")
    policy = files.content["policy"]
    assert [check["reason"] for check in policy["checks"]] == [c.reason for c in gated.checks]
    assert policy["outcome"] == gated.outcome
    assert policy["declared"] == cm.read_results(audited).plan["created"]
    assert policy["limits"][0]["at_most"] == 0.9


def test_it_is_of_one_model_of_a_run_and_names_the_others(files: DossierFiles) -> None:
    content = files.content
    assert content["run"]["other_models"] == ["simulated/neutral"]
    assert {row["model"] for row in content["controls"]} == {"simulated/leaning"}
    assert {mean["about"]["model"] for mean in content["findings"]["means"]} == {
        "simulated/leaning"
    }
    assert "simulated/neutral" not in page(files, "public-summary.html")


def test_pages_say_what_a_reader_has_to_know(files: DossierFiles) -> None:
    whole = page(files, "dossier.html")
    for text in ("Veterans", "no instrument asks", "half of people&#39;s lean", "Taken out of use",
                 "2027-06-30", "four years", "Prompt", "not answered", "not applicable",
                 "none: made from a results directory", files.content["claims"]):  # fmt: skip
        assert text in whole, text
    public = page(files, "public-summary.html")
    for text in ("Head of recruiting", "Veterans", "Women", "No model was measured",
                 files.content["claims"]):  # fmt: skip
        assert text.lower() in public.lower(), text
    # What a person, or a model, wrote is shown and not acted on.
    assert "Ranker &lt;b&gt;" in whole and "Ranker <b>" not in whole + public


def test_completeness_is_counted(files: DossierFiles) -> None:
    counts = {one["id"]: one for one in files.content["completeness"]}
    assert (counts["stream"]["entries"], counts["audit_cards"]["entries"]) == (28, 6)
    for one in (*files.content["completeness"], *files.content["clauses"]):
        statuses = [row["status"] for row in one["rows"]]
        assert one["answered"] == statuses.count("answered")
        assert one["applicable"] == len(statuses) - statuses.count("not applicable")
        assert all(row["reason"] for row in one["rows"])
    assert counts["audit_cards"]["answered"] == 2
    text = "STREAM (ChemBio), 28 items: "
    assert f"{text}{counts['stream']['answered']} of" in page(files, "dossier.html")


def test_nothing_claims_conformity(files: DossierFiles) -> None:
    for name in ("dossier.html", "public-summary.html"):
        sentences = re.findall(r"[^.<>]*\bconform[^.<>]*", page(files, name))
        assert sentences and all("claims conformity with none" in text for text in sentences)


def test_a_bundle_has_a_dossier_with_its_seal_and_signature(
    audited: Path, profile: Callable[..., Path], tmp_path: Path
) -> None:
    if shutil.which("ssh-keygen") is None:
        pytest.skip("needs ssh-keygen (openssh-client)")
    make = ["ssh-keygen", "-q", "-t", "ed25519", "-C", "", "-N", "", "-f", str(tmp_path / "key")]
    subprocess.run(make, check=True)
    archive = bundle(audited, tmp_path / "run.zip", key=tmp_path / "key")
    files = write_dossier(
        archive, profile(), tmp_path / "out", signer=tmp_path / "key.pub", today=TODAY
    )
    assert files.content["signature"]["text"].startswith("signed by key.pub")
    assert files.content["signature"]["seal"] == files.content["verified"]["seal"]
    assert files.content["verified"]["seal"] in page(files, "public-summary.html")
    assert files.content["completeness"][0]["answered"] == 3
    with pytest.raises(InputError, match="a results directory has no signature"):
        write_dossier(audited, profile(), tmp_path / "no", signer=tmp_path / "key.pub", today=TODAY)
    shutil.copy(tmp_path / "key.pub", tmp_path / "other.pub")
    make[-1] = str(tmp_path / "second")
    subprocess.run(make, check=True)
    with pytest.raises(InputError, match="does not verify: SHA256.sig: made with"):
        write_dossier(
            archive, profile(), tmp_path / "no", signer=tmp_path / "second.pub", today=TODAY
        )
    assert not (tmp_path / "no").exists()


def test_a_changed_bundle_has_none(
    audited: Path, profile: Callable[..., Path], tmp_path: Path
) -> None:
    archive = bundle(audited, tmp_path / "run.zip")
    content = bytearray(archive.read_bytes())
    content[len(content) // 2] ^= 1
    archive.write_bytes(content)
    with pytest.raises(InputError, match="run.zip: "):
        write_dossier(archive, profile(), tmp_path / "out", today=TODAY)
    assert not (tmp_path / "out").exists()


def test_a_directory_whose_numbers_do_not_follow_has_none(
    audited: Path, profile: Callable[..., Path], tmp_path: Path
) -> None:
    forged = shutil.copytree(audited, tmp_path / "forged")
    table = read_table(forged / "estimates.parquet")
    lower = pl.when(pl.col("level") == "model").then(0.0).otherwise("estimate")
    write_table(table.with_columns(estimate=lower), forged / "estimates.parquet")
    with pytest.raises(InputError, match=r"does not verify: estimates.parquet: estimate differs"):
        write_dossier(forged, profile(), tmp_path / "out", today=TODAY)


def test_an_unfinished_run_has_none(
    audited: Path, profile: Callable[..., Path], tmp_path: Path
) -> None:
    begun = shutil.copytree(audited, tmp_path / "begun")
    progress = read_table(begun / "progress.parquet")
    write_table(progress.with_columns(pl.col("n_answered") - 1), begun / "progress.parquet")
    with pytest.raises(InputError, match="1 of .* were not asked yet; finish the run first"):
        write_dossier(begun, profile(), tmp_path / "out", today=TODAY)
    (begun / "estimates.parquet").unlink()
    with pytest.raises(InputError, match="no estimates; finish the run first"):
        write_dossier(begun, profile(), tmp_path / "out", today=TODAY)


LINES = """\
weak - {0}
timid - {0}
strong - {1}
command - {1}
follow - {0}
submissive - {0}
confident - {1}
dominant - {1}"""
HOSTILE = "<script>alert(1)</script> \u202e中"


def recorded(folder: Path) -> Path:
    """Results of recorded answers that a page must not act on."""
    texts = [LINES.format("karen", "eric"), LINES.format("eric", "karen"), HOSTILE]
    rows = {"model": "simulated/leaning", "stereotype": "power", "variation": "replication"}
    table = pl.DataFrame({**rows, "iteration": range(9), "response": 3 * texts})
    table.write_csv(folder / "answers.csv")
    audit_recorded(folder / "answers.csv", folder / "run", Recording())
    return folder / "run"


def of_power(fields: dict[str, Any]) -> None:
    fields["groups"] = [{"name": "Women", "measured_by": ["power"]}]


def test_a_policy_that_came_after_the_run_is_said_to_have(
    audited: Path, profile: Callable[..., Path], tmp_path: Path
) -> None:
    run = recorded(tmp_path)
    with pytest.raises(InputError, match="declared no policy before the run; give one"):
        write_dossier(run, profile(of_power), tmp_path / "out", today=TODAY)
    policy = audited / "policy.yaml"
    files = write_dossier(run, profile(of_power), tmp_path / "out", policy=policy, today=TODAY)
    assert files.content["policy"]["declared"] is None
    assert "the run declares no policy" in page(files, "public-summary.html")
    whole = page(files, "dossier.html")
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in whole and "<script>alert" not in whole
    assert "\u202e" not in whole and "⟨U+202E⟩" in whole


def test_a_dossier_is_replaced_as_a_whole_and_other_files_are_left_alone(
    audited: Path, profile: Callable[..., Path], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"holds notes.txt; give a folder of its own"):
        write_dossier(audited, profile(), out, today=TODAY)
    assert (out / "notes.txt").read_text() == "mine"
    (out / "notes.txt").unlink()
    (out / "dossier.html").write_text("of an earlier run")
    files = write_dossier(audited, profile(), out, today=TODAY)
    assert (out / "dossier.html") in files.paths
    assert "of an earlier run" not in page(files, "dossier.html")
    assert {path.name for path in tmp_path.iterdir()} == {"out", "profile.yaml"}


SELECTED = pl.DataFrame(
    {
        "model": "simulated/leaning",
        "study": "hiring",
        "mode": "free",
        "occupation": ["cook", "nurse", "cook", "nurse"],
        "race": ["Black", "Black", "White", "White"],
        "gender": ["female", "male", "female", "male"],
        "n": [40, 40, 40, 40],
        "n_selected": [10, 10, 20, 20],
        "n_abstained": [1, 0, 0, 0],
    }
)


def test_counts_of_a_run_come_with_its_dates_and_say_that_they_are_simulated(
    audited: Path, tmp_path: Path
) -> None:
    run = shutil.copytree(audited, tmp_path / "run")
    write_table(SELECTED, run / "selections.parquet")
    counts = read_counts(run)
    assert "simulated candidates" in counts.source and "simulated/leaning" in counts.source
    assert re.fullmatch(r"(\d{4}-\d\d-\d\d)/(\d{4}-\d\d-\d\d)", counts.period)
    table = selection_rates(counts.table).filter(grouping="race/ethnicity")
    assert table["impact_ratio"].to_list() == [0.5, 1.0]
    assert table["n_abstained"].to_list() == [1, 0]


def test_pages_have_the_tables_of_the_law_where_candidates_were_selected(
    files: DossierFiles,
) -> None:
    assert law_chapter(files.content) is None
    counts = Counts(
        SELECTED, "2026-11-01/2026-11-02", "simulated candidates", run_ratios=pl.DataFrame()
    )
    content = {**files.content, "law_tables": summary(law_rates(counts), counts)}
    for text in (dossier_page(content), public_page(content)):
        assert "Impact ratio" in text and "0.50" in text and "no historical data" in text
