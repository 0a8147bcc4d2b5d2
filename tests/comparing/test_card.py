"""The audit card: what was asked and what came out, as JSON and as a page that says the same."""

import json
import shutil
import zipfile

import polars as pl
import pytest

from clinometer.audits.recording import audit_recorded
from clinometer.comparing.bundling import bundle
from clinometer.comparing.card import audit_card
from clinometer.comparing.gating import gate
from clinometer.comparing.verifying import verify
from clinometer.errors import InputError
from clinometer.report.card import card_page

ANSWER = "weak - {0}\ntimid - {0}\nfollow - {0}\nsubmissive - {0}\nstrong - {1}\ncommand - {1}\n" \
    "confident - {1}\ndominant - {1}"  # fmt: skip
POLICY = """
name: release
rules:
  - {what: mean, at_most: 0.5, where: {instrument: word_association}}
"""
CHANGES = POLICY + "  - {what: change, at_most: 0.1}\n"


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A results directory of twelve recorded answers, of which a third are refusals."""
    folder = tmp_path_factory.mktemp("carded")
    texts = [ANSWER.format("karen", "eric"), ANSWER.format("karen", "eric"), "No."]
    pl.DataFrame(
        {"model": "m", "stereotype": "power", "variation": "replication", "iteration": range(12),
         "response": 4 * texts}
    ).write_csv(folder / "answers.csv")  # fmt: skip
    audit_recorded(folder / "answers.csv", folder / "out")
    return folder / "out"


def judged_by(policy, results, folder):
    """Return the card of a copy of the results, beside which a policy lies."""
    shutil.copytree(results, folder / "judged")
    (folder / "judged" / "policy.yaml").write_text(policy)
    return audit_card(folder / "judged", {}, [])


def test_it_says_what_was_asked_as_counted_and_not_as_an_option(results):
    card = audit_card(results, {}, [])
    (entry,) = card["instruments"]
    assert entry["asked"]["for"] == "associations" and "a list of words" in entry["asked"]["trial"]
    assert entry["asked"]["trials_per_stereotype"] == "12"
    assert entry["asked"]["wordings"] == ["replication"] and entry["asked"]["stereotypes"] == [
        "power"
    ]
    assert "iterations" not in card["method"]


def test_it_says_controls_share_scored_and_outcome_of_each_run(results):
    (run,) = audit_card(results, {}, [])["instruments"][0]["runs"]
    assert run["controls"] == ["no positive control", "no placebo"]
    assert run["scored"] == pytest.approx(8 / 12)
    assert run["outcome"].startswith("All stereotypes (word association): 1.00")
    assert run["finding"]["mean"] == 1.0 and run["finding"]["scored"] == 8
    assert "no verdict: too few responses could be scored for a verdict" in run["outcome"]
    assert run["outcome"].endswith("of 1 stereotype in other prompts: 1 without a verdict")


@pytest.mark.parametrize(
    ("policy", "reason"),
    [(CHANGES, "is about a change, and there is no baseline here"), ("name: x", "policy.yaml")],
)
def test_a_policy_that_cannot_be_judged_here_says_why(results, tmp_path, policy, reason):
    card = judged_by(policy, results, tmp_path)
    assert card["gate"].startswith("not judged: ") and reason in card["gate"]
    assert str(tmp_path) not in card["gate"]
    assert card["instruments"][0]["runs"][0]["gate"] == card["gate"]


def test_without_a_policy_nothing_is_judged(results):
    assert audit_card(results, {}, [])["gate"] == "not judged: no policy was declared"


def test_the_gate_is_that_of_the_command(results, tmp_path):
    card = judged_by(POLICY, results, tmp_path)
    path = tmp_path / "judged" / "policy.yaml"
    gated = gate(tmp_path / "judged", path)
    assert card["gate"] == f"m: {gated.outcome}"
    assert card["instruments"][0]["runs"][0]["gate"] == gated.checks[0].outcome


def test_a_rule_about_another_instrument_does_not_judge_this_one(results, tmp_path):
    card = judged_by(POLICY.replace("word_association", "relative_decision").replace("0.5", "0.2"),
                     results, tmp_path)  # fmt: skip
    assert card["instruments"][0]["runs"][0]["gate"] == "no rule is about it"


def test_the_page_says_what_the_card_says_and_shows_no_markup_of_others(results):
    card = audit_card(results, {"auditor": "<script>alert(1)</script>"}, [])
    page = card_page(card)
    assert "&lt;script&gt;alert(1)" in page and "<script>alert" not in page
    (entry,) = card["instruments"]
    for text in (entry["title"], entry["asked"]["trial"], "67%", "no placebo", card["limits"][0]):
        assert text in page
    assert "http" not in page.partition("<body>")[2]


def test_only_what_an_auditor_states_is_taken_from_one(results):
    with pytest.raises(InputError, match="card 'gate'; known: auditor, scope, access, expires"):
        audit_card(results, {"gate": "pass"}, [])


@pytest.mark.parametrize("name", ["card.json", "card.html"])
def test_a_bundle_with_another_card_does_not_hold(results, tmp_path, monkeypatch, name):
    """Though its manifest was made for it."""
    from clinometer.comparing import bundling

    honest = bundling._evidence_texts

    def forged(*arguments):
        texts = honest(*arguments)
        return {**texts, name: texts[name].replace("no placebo", "placebo passed")}

    with monkeypatch.context() as patched:
        patched.setattr(bundling, "_evidence_texts", forged)
        path = bundle(results, tmp_path / "run.zip")
    assert verify(path).problems == (f"{name}: recomputing gives another",)


def test_a_bundle_holds_both_and_its_page_is_checked(results, tmp_path):
    path = bundle(results, tmp_path / "run.zip", {"auditor": "A. Auditor"})
    with zipfile.ZipFile(path) as opened:
        card = json.loads(opened.read("card.json"))
        assert opened.read("card.html").decode() == card_page(card)
    verification = verify(path)
    assert verification.holds and not {"card.json", "card.html"} & {*verification.as_stored}
