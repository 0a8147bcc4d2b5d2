"""Tables, pages and archives are made of any scores: constant, missing, at the ends, unfinished."""

from __future__ import annotations

import tempfile
import zipfile
from pathlib import Path

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from clinometer.asking.claim import claim
from clinometer.asking.plan import Plan
from clinometer.audits.sizes import select_study
from clinometer.audits.tabulating import tabulate_scores
from clinometer.comparing.bundling import bundle
from clinometer.report import write_report
from clinometer.results import REASONS, RESPONSES, SCORES, WORDS, check
from clinometer.results.schemas import PROGRESS
from clinometer.results.tables import write_table
from clinometer.results.verdicts import explained

MODEL = "openai-api/loop/m"
SCALES = {"relative_decision": (0.0, 1.0), "word_association": (-1.0, 1.0)}
PARTS = ("bai2025", "control_insects", "control_nonsense")
STEREOTYPES = {"bai2025": "age,power"}


def planned(instrument: str) -> Plan:
    parts = [select_study(name, STEREOTYPES.get(name), None, 2, instrument) for name in PARTS]
    return Plan(parts, [MODEL], iterations=2)


@st.composite
def scored(draw: st.DrawFn) -> tuple[Plan, pl.DataFrame, int]:
    """Draw a plan, scores of some of its trials, and how many were left out."""
    name = draw(st.sampled_from(sorted(SCALES)))
    low, high = SCALES[name]
    plan = planned(name)
    trials = plan.trials()
    n_scored = draw(st.sampled_from([1, 2, trials.height // 2, trials.height]))
    kinds = [st.just(low), st.just(high), st.none(), st.floats(low, high)]
    kinds += [st.sampled_from([low, high]), st.one_of(st.none(), st.floats(low, high))]
    values = draw(st.sampled_from(kinds))
    scores = [draw(values) for _ in range(n_scored)]
    reason = draw(st.sampled_from(REASONS))
    kind = {"control_insects": "positive", "control_nonsense": "negative"}
    rows = trials.head(n_scored).with_columns(
        model=pl.lit(MODEL),
        scoring=pl.lit("exact"),
        control=pl.col("study").replace_strict(kind, default=None),
        score=pl.Series(scores, dtype=pl.Float64),
        reason=pl.Series([reason if score is None else None for score in scores], dtype=pl.String),
    )
    absent = (pl.lit(None).alias(c) for c in SCORES if c not in rows.columns)
    return plan, check(rows.with_columns(absent), SCORES, "scores"), trials.height - n_scored


def answered(plan: Plan, scores: pl.DataFrame) -> pl.DataFrame:
    """Return the answers behind scores, all with one text."""
    rows = plan.trials().head(scores.height).with_columns(
        model=pl.lit(MODEL), response=pl.lit("said"), stop_reason=pl.lit("stop")
    )  # fmt: skip
    absent = (pl.lit(None).alias(c) for c in RESPONSES if c not in rows.columns)
    return check(rows.with_columns(absent), RESPONSES, "responses")


@settings(max_examples=12)
@given(scored())
def test_any_scores_become_tables_a_page_and_an_archive(
    run: tuple[Plan, pl.DataFrame, int],
) -> None:
    plan, scores, n_absent = run
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        claim(out, plan)
        write_table(scores, out / "scores.parquet")
        write_table(answered(plan, scores), out / "responses.parquet")
        counts = (MODEL, scores.height + n_absent, scores.height, 0, 0, "", 0, None)
        progress = pl.DataFrame([counts], schema=PROGRESS, orient="row")
        tabulate_scores(out, plan, pl.DataFrame(schema=WORDS), progress)
        estimates = pl.read_parquet(out / "estimates.parquet")
        assert all(explained(verdict) for verdict in estimates["verdict"].drop_nulls().unique())
        assert not n_absent or "equivalent" not in estimates["verdict"]
        page = write_report(out).read_text(encoding="utf-8")
        assert ("trials have an answer" in page) == bool(n_absent)
        with zipfile.ZipFile(bundle(out, Path(folder) / "run.zip")) as archive:
            assert "estimates.parquet" in archive.namelist()
