"""Explicit beside implicit, on the page of a run with both."""

from __future__ import annotations

import json
import random
import re

import polars as pl
import pytest

import clinometer as cm
from clinometer.contracts.catalogue import INSTRUMENTS
from clinometer.contracts.design import Design
from clinometer.directory.results import read_estimates, write_results
from clinometer.pieces.paragraphs import fill_paragraphs
from clinometer.report.answers.explicit import explicit_section
from clinometer.report.answers.reading import read_results
from clinometer.results import Measure, as_estimates
from clinometer.results.estimates import SCALE
from clinometer.statistics.explicitness import explicit_gaps
from clinometer.stimuli import load_study

INSTRUMENT_NAMES = ("word_association", "self_report_comparison")


def answered(name: str) -> pl.DataFrame:
    """Trials with answers drawn from what was offered, those of associations mostly the first."""
    design = Design("structured", iterations=4)
    trials = INSTRUMENTS[name].trials(load_study("bai2025"), design, stereotypes="age,power")
    rng = random.Random(name)

    def answer(schema: str) -> str:
        offered = json.loads(schema)["properties"]
        return json.dumps(
            {word: rng.choice(word_schema["enum"]) for word, word_schema in offered.items()}
        )

    return trials.with_columns(
        model=pl.lit("lab/one"),
        response=pl.Series([answer(schema) for schema in trials["schema"]]),
        stop_reason=pl.lit("stop"),
    )


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    path = tmp_path_factory.mktemp("explicit")
    responses = pl.concat([answered(name) for name in INSTRUMENT_NAMES])
    cm.audit_recorded(responses, path / "run")
    cm.write_report(path / "run")
    return path / "run"


def test_both_means_and_the_gap_stand_in_one_section(directory):
    page = (directory / "report.html").read_text("utf-8")
    text = re.split('aria-labelledby="(?:\\S+ )?explicit"', page)[1].split("</section>")[0]
    assert "Explicit beside implicit, over all and per category" in text
    assert "lab/one, mode structured: word association" in text
    gap = read_estimates(directory).filter(measure="explicit_gap", level="model")
    assert f"gap {gap['estimate'][0]:+.2f}".replace("-", "−") in text


def test_the_gap_is_that_of_the_means(directory):
    gaps = read_estimates(directory).filter(measure="explicit_gap")
    assert set(gaps["level"]) == {"model", "category", "stereotype"}
    difference = pl.col("candidate_estimate") - pl.col("baseline_estimate")
    assert gaps.select((pl.col("estimate") - difference).abs().max()).item() < 1e-12


def test_without_explicit_measures_there_is_no_section(page):
    assert 'id="explicit"' not in page


@pytest.fixture
def paragraphs(make_results):
    """Make the section where explicit instruments were asked beside word associations."""

    def make(*explicit):
        directory = make_results(keys=["racism", "guilt", "age"], modes=["free"])
        estimate_rows = pl.read_parquet(directory / "estimates.parquet")
        measures = {
            name: Measure(name, name, -1.0, 1.0, 0.0, "", "", explicit=True) for name in explicit
        }
        model_row = estimate_rows.filter(
            level="model", method="clustered", measure="word_association"
        )
        row = model_row.drop(*SCALE).row(0, named=True)
        rows = [{**row, "measure": name, "instrument": name} for name in explicit]
        estimates = pl.concat([estimate_rows, as_estimates(rows, measures)])
        gaps = explicit_gaps(estimates)
        write_results(directory, "answers", pl.concat([estimates, gaps]), {})
        return fill_paragraphs(explicit_section(read_results(directory)).text)

    return make


def test_published_shares_of_the_instruments_asked_stand_in_it(paragraphs):
    # Bai et al. (2025), SI Tables S1 and S2.
    paragraph = paragraphs("bbq", "hypothetical_decision")[-1]
    assert "0.937 to 1.000" in paragraph and "S1" in paragraph
    assert "0.884 to 0.911" in paragraph and "0.863 to 0.900" in paragraph
    assert "0.937" not in paragraphs("hypothetical_decision")[-1]


def test_nothing_is_published_for_other_explicit_instruments(paragraphs):
    assert not any("Published" in text for text in paragraphs("self_report_agreement"))
