"""Whatever says what a run found states the same numbers."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import polars as pl
import pytest

import clinometer as cm
from clinometer.numbers import bracketed, interval, number
from clinometer.report.card import instrument_cards
from clinometer.results.records import read_plan, write_plan
from clinometer.sharing import log_mlflow

Run = Callable[..., tuple[int, str, str]]

NUMBER = re.compile(r"−?\d\.\d\d")
INTERVAL = re.compile(rf"{NUMBER.pattern} to {NUMBER.pattern}")
ROW = re.compile(rf"(  )?[A-Z][\w ()]* {NUMBER.pattern} ")
BOUND = "(?:about|at least)"
TRIALS = re.compile(
    rf"to decide it takes {BOUND} [\d,]+ trials in place of \d+(, or other wordings or words)?"
)
PRICE = re.compile(rf"{BOUND} ([\d,]+) trials in place of \d+, {BOUND} \$([\d,.]+)")
MEANS = re.compile(rf"({NUMBER.pattern}) -> ({NUMBER.pattern})")

AUDIT = ("--study", "bai2025", "--instrument", "word_association", "--no-profile", "--out", "r")
SYSTEM = (
    "--system",
    "Ranker",
    "--model",
    "simulated/leaning",
    "--use",
    "Ranks",
    "--group",
    "W=age",
)


@pytest.fixture(scope="module")
def told(run_in: Run, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A run of two stereotypes of one category, and what each output says of it."""
    folder = tmp_path_factory.mktemp("told")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("MLFLOW_TRACKING_URI", (folder / "runs").as_uri())
        patched.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
        patched.chdir(folder)
        return folder / "r", ask_and_tell(partial(run_in, folder))


@pytest.fixture
def outputs(
    told: tuple[Path, dict[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, str]:
    """What each output says of the run, which is ``r`` in an empty folder."""
    directory, texts = told
    shutil.copytree(directory, tmp_path / "r")
    monkeypatch.chdir(tmp_path)
    return texts


def ask_and_tell(run: Run) -> dict[str, str]:
    """Ask and share a run in this folder; gives what each output says of it."""
    run("init", *SYSTEM)
    run(
        "audit",
        "simulated/leaning",
        "--policy",
        "policy.yaml",
        "--stereotypes",
        "age,weight",
        *AUDIT,
    )
    profile = Path("profile.yaml")
    profile.write_text(
        profile.read_text("utf-8")
        .replace("FILL IN: a date, as 2027-06-30", "2999-01-01")
        .replace("FILL IN: ", ""),
        "utf-8",
    )
    run("dossier", "r", "--profile", "profile.yaml", "--out", "d")
    run("share", "r", "--format", "hub", "--out", "h", "--dataset", "lab/bias")
    run("share", "r", "--format", "every-eval-ever", "--out", "e")
    page = Path("r/report.html").read_text("utf-8")
    dossier = json.loads(Path("d/dossier.json").read_text("utf-8"))
    return {
        "terminal": run("report", "r")[1],
        "sentences": run("report", "r", "--verbose")[1],
        "page": page[page.index('class="summary"') : page.index("<nav")],
        "dossier": json.dumps(dossier["findings"], ensure_ascii=False),
        "public": Path("d/public-summary.html").read_text("utf-8"),
        "gate": run("gate", "r", "--policy", "policy.yaml")[1],
        "card": "\n".join(
            entry["outcome"] for card in instrument_cards(Path("r")) for entry in card["runs"]
        ),
        "hub": Path("h/models/simulated-leaning/.eval_results/clinometer.yaml").read_text("utf-8"),
        "mlflow": "\n".join(logged_means(Path("r"))),
        "every eval ever": "\n".join(shared_means(Path("e"))),
    }


def shared_means(folder: Path) -> Iterator[str]:
    """Write each mean of the stereotypes that a record shares, with its interval."""
    for path in folder.rglob("*.json"):
        for entry in json.loads(path.read_text("utf-8"))["evaluation_results"]:
            details = entry["score_details"]
            ends = details["uncertainty"].get("confidence_interval")
            if ends and "control" not in details["details"]:
                yield bracketed(details["score"], ends["lower"], ends["upper"])


def logged_means(directory: Path) -> Iterator[str]:
    """Write each mean that MLflow has of the only run, with its intervals."""
    mlflow = pytest.importorskip("mlflow")
    client = mlflow.MlflowClient()
    for run in log_mlflow(directory):
        metrics = client.get_run(run).data.metrics
        for name, mean in metrics.items():
            key, _, field = name.rpartition("/")
            if field == "mean":
                for ends in (("low", "high"), ("low_in_prompts", "high_in_prompts")):
                    yield bracketed(mean, *(metrics[f"{key}/{end}"] for end in ends))


def test_no_two_outputs_of_one_run_state_different_numbers(outputs: dict[str, str]) -> None:
    findings = cm.findings("r")
    over_all = findings[0]
    stated = {
        interval(*ends)
        for finding in findings
        for ends in ((finding.low, finding.high), (finding.low_in_prompts, finding.high_in_prompts))
    }
    # From the least stereotype to the most.
    stated |= {finding.spread.rpartition("from ")[2] for finding in findings if finding.spread}
    mean, ends = number(over_all.mean), interval(over_all.low, over_all.high)
    for name, text in outputs.items():
        assert set(INTERVAL.findall(text)) <= stated, name
        assert mean in text and ends in text, name
    assert bracketed(over_all.mean, over_all.low, over_all.high) in outputs["page"]


def test_what_is_unclear_says_what_would_decide_it(outputs: dict[str, str]) -> None:
    findings = cm.findings("r")
    unclear = [finding for finding in findings if finding.verdict == "inconclusive"]
    assert [finding for finding in findings if finding.would_decide] == unclear != []
    for finding in unclear:
        assert TRIALS.fullmatch(finding.would_decide)
        assert finding.would_decide in outputs["dossier"]
        if finding.level == "model":
            for name in ("sentences", "public", "card", "hub"):
                assert finding.would_decide in outputs[name], name
            assert finding.would_decide in Path("r/report.html").read_text("utf-8")


def test_what_would_decide_has_a_price_where_the_model_has_one(
    outputs: dict[str, str],
) -> None:
    path = Path("r/plan.json")
    assert not any("$" in finding.would_decide for finding in cm.findings("r"))
    prices = {"simulated/leaning": {"input": 1e4, "output": 1e4}}
    write_plan(path, {**read_plan(path), "prices": prices})
    texts = [text for finding in cm.findings("r") if (text := finding.would_decide)]
    tokens = pl.read_parquet("r/responses.parquet").select("input_tokens", "output_tokens")
    per_trial = tokens.sum_horizontal().mean() / 100.0
    for text in texts:
        trials, usd = (float(number.replace(",", "")) for number in PRICE.findall(text)[0])
        assert usd == pytest.approx(trials * per_trial, rel=0.1)  # trials are rounded up


#: Leans against stereotypes, and refuses some answers: of its trials not all are compared.
CANDIDATE = """
lean: {default: -0.6, stereotype: {nonsense: 0}}
refusals: {rate: 0.1}
seed: 3
"""


@pytest.fixture(scope="module")
def asked(run_in: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of two runs, ``r`` and ``q``, of which the second refuses."""
    folder = tmp_path_factory.mktemp("asked")
    (folder / "candidate.yaml").write_text(CANDIDATE, "utf-8")
    for model, out in (("simulated/leaning", "r"), ("simulated/candidate.yaml", "q")):
        run_in(folder, "audit", model, "--stereotypes", "career,power", *AUDIT[:-1], out)
    return folder


@pytest.fixture
def runs(
    asked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, tuple[cm.Finding, cm.Finding]]:
    """What is told of each mean of two runs, ``r`` and ``q``, in an empty folder."""
    shutil.copytree(asked, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    before, after = (
        {finding.subject: finding for finding in cm.findings(out)} for out in ("r", "q")
    )
    return {subject: (finding, after[subject]) for subject, finding in before.items()}


def test_a_comparison_states_the_means_of_both_runs_and_which_way_they_lean(
    run: Run, runs: dict[str, tuple[cm.Finding, cm.Finding]]
) -> None:
    means = {(number(before.mean), number(after.mean)) for before, after in runs.values()}
    for level in ("category", "stereotype"):
        out = run("compare", "r", "q", "--level", level)[1]
        rows = [line for line in out.splitlines() if ROW.match(line)]
        ends = {text for row in rows for text in INTERVAL.findall(row)}
        assert {tuple(NUMBER.findall(row)[:2]) for row in rows} <= means and rows
        assert {*MEANS.findall(out)} <= means and {*INTERVAL.findall(out)} <= ends
        subject = re.search(r": (\w+) \(word association\)", out)
        assert subject is not None
        before, after = runs[subject[1]]
        assert before.conclusion != after.conclusion
        assert f"; before: {before.conclusion}; after: {after.conclusion}" in out


def test_a_broken_limit_says_which_way_the_mean_leans(
    run: Run, runs: dict[str, tuple[cm.Finding, cm.Finding]]
) -> None:
    Path("policy.yaml").write_text(
        "{name: p, controls: ignored, rules: [{what: mean, level: stereotype, at_most: 0.1}]}",
        "utf-8",
    )
    out = run("gate", "r", "--policy", "policy.yaml")[1]
    leans = [finding for finding, _ in runs.values() if finding.direction]
    assert any(finding.headline.replace("]: ", "]; ") in out for finding in leans)
