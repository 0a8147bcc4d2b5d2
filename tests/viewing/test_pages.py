"""The pages of a run that has ended: findings, the report, answers, one answer."""

from __future__ import annotations

import html
import json
import re
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import polars as pl
import pytest

from clinometer.results.records import write_plan
from clinometer.viewing import answers


def scored(finished: Path, **values: str) -> int:
    return pl.read_parquet(finished / "scores.parquet").filter(**values).height


def test_the_overview_has_findings_and_progress(finished: Path, pages: Any) -> None:
    page = pages(finished)()
    assert "8 of 8 (100%)" in page and "Every trial has an answer" in page
    assert "Strongest" in page and 'data-live="' not in page
    assert re.search(r'<figure id="figure-summary">\s*<div class="chart"[^>]*><svg', page)


def test_the_report_is_given_as_it_stands(finished: Path, pages: Any) -> None:
    ask = pages(finished)
    assert ask("report") == (finished / "report.html").read_text()
    policy = ask.client.get(f"{ask.run}report").headers["content-security-policy"]
    assert policy.startswith("sandbox allow-scripts; default-src 'none'")


def test_before_there_is_a_report_the_page_says_so(half: Path, pages: Any) -> None:
    assert "written when a run has ended" in pages(half)("report", 404)


@pytest.mark.parametrize(
    ("query", "conditions"),
    [
        ("stereotype=age", {"stereotype": "age"}),
        ("status=refused", {"reason": "refused"}),
        ("stereotype=power&mode=free", {"stereotype": "power", "mode": "free"}),
    ],
)
def test_answers_are_chosen(query: str, conditions: Any, finished: Path, pages: Any) -> None:
    n = scored(finished, **conditions)
    assert 0 < n < 8
    assert f"<strong>{n} answer" in pages(finished)(f"answers?{query}")


def test_answers_are_chosen_by_the_verdict_of_their_mean(finished: Path, pages: Any) -> None:
    estimates = pl.read_parquet(finished / "estimates.parquet")
    means = estimates.filter(
        pl.col("factor").is_null(), level="stereotype", method="clustered",
        measure="word_association",
    )  # fmt: skip
    verdicts = dict(means.select("stereotype", "verdict").iter_rows())
    with_verdicts = estimates.with_columns(
        verdict=pl.when(pl.col("stereotype") == "age").then(pl.lit("reversed, within margin"))
        .when(pl.col("stereotype") == "power").then(pl.lit("consistent"))
    )  # fmt: skip
    assert set(verdicts) == {"age", "power"}
    with_verdicts.write_parquet(finished / "estimates.parquet")
    ask = pages(finished)
    page = ask("answers?verdict=reversed")
    assert "<strong>4 answers" in page and "▼ leans against the stereotype, within margin" in page
    assert "· age ·" in page and "· power ·" not in page
    assert "<strong>0 answers" in ask("answers?verdict=equivalent")


def test_words_are_found_in_any_case(finished: Path, pages: Any) -> None:
    ask = pages(finished)
    assert "<strong>1 answer<" in ask("answers?text=CAN%27T+HELP")
    assert "<strong>0 answers" in ask("answers?text=c.n%27t")


def test_an_answer_has_its_score_mean_and_mirrored_partner(finished: Path, pages: Any) -> None:
    ask = pages(finished)
    first, *_ = ask.addresses("answers?stereotype=age", "answer?")
    page = ask(first.removeprefix(ask.run))
    score = pl.read_parquet(finished / "scores.parquet").filter(stereotype="age")["score"][0]
    assert f"{score:.3f}".replace("-", "−") in page
    assert "Mean it enters" in page and "of_stereotype=age" in page


def test_an_answer_leads_to_the_same_draw_in_the_other_order(finished: Path, pages: Any) -> None:
    pairs = dict(
        pl.read_parquet(finished / "scores.parquet").select("trial_id", "pair_id").iter_rows()
    )
    ask = pages(finished)
    addresses = ask.addresses("answers", "answer?")
    for address in addresses:
        page = ask(address.removeprefix(ask.run))
        (link,) = re.findall('href="([^"]*)">Its mirrored partner', page)
        trial, swapped_trial = (
            parse_qs(urlsplit(a).query)["trial"][0] for a in (address, html.unescape(link))
        )
        assert trial != swapped_trial and pairs[trial] == pairs[swapped_trial]
    assert len(addresses) == 8


def test_answers_have_neighbours_within_what_was_chosen(finished: Path, pages: Any) -> None:
    ask = pages(finished)
    addresses = ask.addresses("answers?stereotype=age", "answer?")
    assert len(addresses) == 4
    last = ask(addresses[-1].removeprefix(ask.run))
    assert ">Previous<" in last and ">Next<" not in last
    assert ">Next<" in ask(addresses[0].removeprefix(ask.run))


def test_a_long_answer_is_cut_and_says_so(finished: Path, pages: Any) -> None:
    ask = pages(finished)
    (address,) = ask.addresses("answers?text=long+long", "answer?")
    page = ask(address.removeprefix(ask.run))
    assert "The first 20,000 of 25,013 characters" in page
    assert page.count("long ") < 2 * 4500  # rendered, and as it came


def test_a_page_has_so_many_answers(
    finished: Path, pages: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("answers", "views"):
        monkeypatch.setattr(f"clinometer.viewing.{module}.PAGE", 3)
    assert answers.PAGE == 3
    ask = pages(finished)
    first, last = ask("answers"), ask("answers?page=3")
    assert "page 1 of 3" in first and first.count("<tr>") == 4
    assert last.count("<tr>") == 3 and ">Next<" not in last
    assert ask("answers?page=nonsense").count("<tr>") == 4


def test_the_highest_or_lowest_score_comes_first(finished: Path, pages: Any) -> None:
    scores = pl.read_parquet(finished / "scores.parquet").drop_nulls("score")
    ask = pages(finished)
    for sort, best in (("lowest", scores["score"].min()), ("highest", scores["score"].max())):
        first = ask.addresses(f"answers?sort={sort}", "answer?")[0]
        trials = scores.filter(pl.col("score") == best)["trial_id"]
        assert any(trial in first for trial in trials) and trials.len() < scores.height


def test_a_folder_of_several_is_listed(finished: Path, half: Path, pages: Any) -> None:
    folder = finished.parent
    (folder / "else").mkdir()
    ask = pages(folder)
    page = ask.client.get("/token/").text
    assert "run</a>" in page and "half</a>" in page and "else</a>" not in page
    shutil.rmtree(half)
    assert "half</a>" not in ask.client.get("/token/").text


def test_the_list_says_what_was_found_of_how_many_answers_and_when(
    finished: Path, half: Path, pages: Any
) -> None:
    folder = finished.parent
    plan = json.loads((half / "plan.json").read_text())
    write_plan(half / "plan.json", {**plan, "created": "2026-01-02T03:04:05+00:00"})
    (folder / "broken").mkdir()
    (folder / "broken" / "plan.json").write_text('{"models')
    page = pages(folder).client.get("/token/").text
    rows = {re.search(r"/runs/[^>]*>([^<]*)<", row)[1]: row for row in page.split("<tr>")[2:]}
    assert list(rows) == ["run", "half", "broken"]  # newest first
    means = pl.read_parquet(finished / "estimates.parquet").filter(
        pl.col("factor").is_null(), level="model", method="clustered", measure="word_association"
    )
    assert f"Word association: – no verdict: compliance, {means['estimate'][0]:.2f}" in rows["run"]
    assert "<td>8</td>" in rows["run"]
    assert "not yet" in rows["half"] and "<td>4 so far</td>" in rows["half"]
    assert "2026-01-02 03:04" in rows["half"]
    assert "plan.json" in rows["broken"] and "Traceback" not in page


def test_a_row_is_an_answer_however_many_scores_it_has(finished: Path, pages: Any) -> None:
    scores = pl.read_parquet(finished / "scores.parquet")
    rescored = scores.with_columns(instrument=pl.lit("other_test"), score=pl.lit(0.125))
    pl.concat([scores, rescored]).write_parquet(finished / "scores.parquet")
    ask = pages(finished)
    page = ask("answers")
    assert "<strong>8 answers" in page
    assert page.count("<tr>") == 1 + 8
    assert page.count("other test 0.12") == 8 and page.count("word association") >= 8
    assert "<strong>8 answers" in ask("answers?instrument=other_test")
    assert "word association 0" not in ask("answers?instrument=other_test")


def test_an_answer_is_shown_as_it_is_meant_and_as_it_came(finished: Path, pages: Any) -> None:
    texts = pl.read_parquet(finished / "responses.parquet")
    answer = "1. **tragic** – old\n2. joy – young"
    texts.with_columns(response=pl.lit(answer)).write_parquet(finished / "responses.parquet")
    ask = pages(finished)
    listed = ask("answers")
    assert "1. tragic – old 2. joy – young" in listed
    link = re.search(r'href="([^"]*answer[?][^"]*)"', listed)
    page = ask(html.unescape(link[1]).removeprefix(ask.run))
    assert "<strong>tragic</strong> – old" in page and "1. **tragic** – old" in page
