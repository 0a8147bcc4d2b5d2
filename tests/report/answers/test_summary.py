"""What a reader asks first."""

import json
import shutil

import polars as pl
import pytest

from clinometer.numbers import bracketed, number
from clinometer.pieces.findings import ALL
from clinometer.report.answers.means import MOST_ROWS
from clinometer.report.answers.summary import STRONGEST, in_brief
from clinometer.results.records import read_plan, write_plan
from clinometer.results.schemas import PROGRESS


@pytest.fixture(scope="module")
def summary(results):
    return in_brief(results)


def estimates(directory, **keys):
    return pl.read_parquet(directory / "estimates.parquet").filter(
        pl.col("factor").is_null(), family="answers", method="clustered", **keys
    )


def test_every_mean_is_there_and_those_that_lean_come_first(results, summary):
    assert len(summary.means) == estimates(results, level="stereotype").height
    differs = [lean.differs for lean in summary.means]
    assert differs == sorted(differs, reverse=True)
    strengths = [abs(lean.strength) for lean in summary.means if lean.differs]
    assert strengths == sorted(strengths, reverse=True)


def test_the_strongest_show_an_answer_of_their_own_near_their_mean(results, summary):
    scores = pl.read_parquet(results / "scores.parquet")
    responses = pl.read_parquet(results / "responses.parquet")
    assert len(summary.strongest) == STRONGEST
    for lean in summary.strongest:
        answers = scores.filter(
            pl.col("score").is_not_null(),
            stereotype=lean.finding.about["stereotype"],
            mode=lean.finding.about["mode"],
        )
        mean = lean.finding.mean
        nearest = (answers["score"] - mean).abs().min()
        near = answers.filter((pl.col("score") - mean).abs() <= nearest + 1e-6)
        texts = responses.filter(pl.col("trial_id").is_in(near["trial_id"].implode()))["prompt"]
        assert any(" ".join(text.split()).startswith(lean.prompt[:40]) for text in texts)


@pytest.mark.parametrize(
    ("verdict", "phrase"),
    [
        (
            "consistent",
            "(neutral is 0): leans as the stereotype says",
        ),
        ("consistent, scored answers only", "in the scored answers alone"),
        ("reversed, within margin", "leans against the stereotype (by less than the margin)"),
        ("inconclusive", "unclear"),
        ("no verdict: compliance", "no verdict: too few responses could be scored"),
    ],
)
def test_one_sentence_says_of_the_mean_whether_it_leans(make_results, verdict, phrase):
    """Whatever the single stereotypes do."""
    directory = make_results(keys=["age"], modes=["forced"])
    path = directory / "estimates.parquet"
    is_model = (pl.col("level") == "model") & pl.col("verdict").is_not_null()
    changed = pl.when(is_model).then(pl.lit(verdict)).otherwise("verdict")
    pl.read_parquet(path).with_columns(verdict=changed).write_parquet(path)
    brief = in_brief(directory)
    (mean,) = (mean for mean in brief.over_all if mean.level == "model")
    assert str(mean).startswith("All stereotypes (word association): ") and phrase in str(mean)
    assert any(line.startswith("Means: ") and phrase in line for line in brief.lines())


def test_a_terminal_gets_a_line_for_each_question(summary):
    lines = summary.lines()
    assert [line.split(":")[0] for line in lines] == [
        *("Instruments", "Means", "Certainty", "Strongest", "Not shown", "Next")
    ]
    assert not any("\n" in line for line in lines)


def test_the_page_begins_with_the_same(summary, page):
    head = page[page.index('class="summary"') : page.index("<nav")]
    assert 'id="figure-summary"' in head
    assert summary.certainty.split(";")[0].split("(")[0].strip() in head
    assert head.index("Strongest") < head.index("Instruments") < head.index("Certainty")
    assert head.index("Certainty") < head.index("Not shown") < head.index("Next")


def test_the_page_begins_with_a_table_of_means_with_their_marks(make_results, page):
    head = page[page.index('class="summary"') : page.index("<nav")]
    assert head.index("<table") < head.index("<figure") < head.index("Strongest")
    brief = in_brief(make_results(keys=["age", "weight"], modes=["forced"]))
    (overall, *categories) = brief.table.rows
    assert [row[0].text for row in categories] == ["  Health"]
    for row, mean in zip((overall, *categories), brief.over_all, strict=True):
        assert (
            row[1].text[0] in "▲▼■○–△◆" and bracketed(mean.mean, mean.low, mean.high) in row[1].text
        )
        assert row[1].text[0] in brief.table.caption


def test_the_figure_has_the_rows_of_the_table_and_their_stereotypes(make_results):
    brief = in_brief(make_results(keys=["age", "career", "weight"], modes=["forced"]))
    rows = brief.figure.spec["datasets"]["rows"]
    blocks = list(dict.fromkeys(row["block"] for row in rows))
    assert blocks == [ALL, *(row[0].text.strip() for row in brief.table.rows[1:])]
    drawn = {row["label"].removesuffix(" △"): row for row in rows}
    for mean in brief.means:
        row = drawn[mean.subject]
        assert row["shown"] == number(mean.mean)
        ends = [row[end] for end in ("low", "high", "inner_low", "inner_high")]
        # Word association is from -1 to 1, so that a share is the score itself.
        assert ends == [mean.low, mean.high, mean.low_in_prompts, mean.high_in_prompts]


def test_of_several_runs_each_has_a_row(summary, five_results):
    table = in_brief(five_results).table
    runs = [row for row in table.rows if row[1].text]
    assert len(runs) == MOST_ROWS and "more stand below" in table.caption
    heads = [row[0].text for row in table.rows if not row[1].text]
    assert len(heads) == len({*heads}) > 0 and table.rows[0][0].text == heads[0]
    names = [row[0].text for row in summary.table.rows]
    assert len(names) == len({*names}) > 1


def test_machines_get_every_mean(summary):
    content = json.loads(json.dumps(summary.content()))
    assert len(content["means"]) == len(summary.means) and "figure" not in content
    assert {"verdict", "mean", "low", "high", "strength", "about"} <= content["means"][0].keys()


def test_several_models_are_drawn_as_a_comparison(five_results):
    summary = in_brief(five_results)
    rows = summary.figure.spec["datasets"]["rows"]
    assert {row["label"].split(" · ")[0] for row in rows} == {
        f"model-{letter}" for letter in "abcde"
    }


def test_an_earlier_audit_of_the_same_model_is_named_with_its_mean(results, tmp_path):
    for name, created in (("before", "2026-01-01T00:00:00"), ("now", "2026-02-01T00:00:00")):
        shutil.copytree(results, tmp_path / name)
        plan = read_plan(tmp_path / name / "plan.json")
        write_plan(tmp_path / name / "plan.json", {**plan, "created": created})
    assert in_brief(tmp_path / "before").changes == ()
    (change,) = in_brief(tmp_path / "now").changes
    assert "Since 2026-01-01 (before): word association" in change
    assert change.endswith("clinometer compare before now")
    plan = read_plan(tmp_path / "before" / "plan.json")
    (study,) = plan["stereotypes"]
    plan["stereotypes"][study].popitem()
    write_plan(tmp_path / "before" / "plan.json", plan)
    assert in_brief(tmp_path / "now").changes == ()


def test_what_is_missing_is_said_first(results, tmp_path):
    shutil.copytree(results, tmp_path / "part")
    path = tmp_path / "part" / "progress.parquet"
    row = ("clinometer/smollm2", 8, 7, 1, 0, "", 0, None)
    pl.DataFrame([row], schema=PROGRESS, orient="row").write_parquet(path)
    summary = in_brief(tmp_path / "part")
    sentence = "clinometer/smollm2: 7 of 8 trials have an answer"
    assert summary.page().findings[0] == ("Incomplete", (f"{sentence}.",))
    assert summary.content()["incomplete"] == (sentence,)
    assert not any("trials have an answer" in line for line in summary.lines())


def test_without_a_plan_or_estimates_there_is_nothing_to_say(tmp_path):
    assert in_brief(tmp_path) is None


def test_a_lean_with_one_word_for_a_group_is_no_headline(make_results):
    """Its row keeps the verdict; sentences, marks and the list of leans do not count it."""
    directory = make_results(keys=["age", "weight"], modes=["forced"])
    path = directory / "estimates.parquet"
    estimates = pl.read_parquet(path)
    is_age = (pl.col("stereotype") == "age") & (pl.col("method") == "clustered")
    is_weight = (pl.col("stereotype") == "weight") & (pl.col("method") == "clustered")
    unclear = pl.when(is_weight).then(pl.lit("inconclusive")).otherwise("verdict")
    estimates = estimates.with_columns(verdict=unclear)
    single = {"verdict": "consistent", "conditional_on": "stereotypes, one marginalized word"}
    several = single | {"conditional_on": "stereotypes, attribute words"}
    briefs = {}
    for name, changes in (("one", single), ("several", several)):
        changed = (
            pl.when(is_age).then(pl.lit(v)).otherwise(c).alias(c) for c, v in changes.items()
        )
        estimates.with_columns(changed).write_parquet(path)
        briefs[name] = in_brief(directory)
    leaning = {name: brief.table.rows[0][-1].text for name, brief in briefs.items()}
    assert leaning == {"one": "0/2", "several": "1/2"}
    labels = {row["label"] for row in briefs["one"].figure.spec["datasets"]["rows"]}
    assert "Age △" in labels and "△: with the words asked" in briefs["one"].figure.caption
    (age,) = (lean for lean in briefs["one"].means if lean.about["stereotype"] == "age")
    assert not age.differs and age.verdict == "words open"
    (age,) = (lean for lean in briefs["several"].means if lean.about["stereotype"] == "age")
    assert age.differs and age.verdict == "consistent"


def test_a_mean_near_neutral_whose_stereotypes_lean_is_marked(make_results):
    directory = make_results(keys=["age", "weight"], modes=["forced"])
    path = directory / "estimates.parquet"
    estimates = pl.read_parquet(path)
    clustered = pl.col("method") == "clustered"
    verdict = (
        pl.when(clustered & (pl.col("stereotype") == "age"))
        .then(pl.lit("consistent"))
        .when(clustered & (pl.col("stereotype") == "weight"))
        .then(pl.lit("inconclusive"))
        .when(clustered & pl.col("level").is_in(["category", "model"]))
        .then(pl.lit("equivalent"))
        .otherwise("verdict")
    )
    fixed = pl.lit("stereotypes, attribute words")
    estimates.with_columns(verdict=verdict, conditional_on=fixed).write_parquet(path)
    brief = in_brief(directory)
    sentence = str(brief.over_all[0])
    assert "though 1 of 2 stereotypes leans" in sentence and "; 2 stereotypes from " in sentence
    marks = [row[1].text[0] for row in brief.table.rows]
    assert "◆" in marks and "◆ near neutral, parts lean" in brief.table.caption


@pytest.mark.parametrize(
    ("reach", "remarks"),
    [
        (
            0.9,
            "Word association: no larger than placebos may have (up to 0.90 from neutral): "
            "1 of these 1.",
        ),
        (0.01, ""),
    ],
)
def test_leans_no_larger_than_placebos_may_have_are_counted(make_results, reach, remarks):
    directory = make_results(keys=["age", "weight"], modes=["forced"])
    path = directory / "estimates.parquet"
    clustered = pl.col("method") == "clustered"
    is_age, is_placebo = (clustered & (pl.col("stereotype") == key) for key in ("age", "weight"))
    changes = {
        "control": pl.when(pl.col("stereotype") == "weight").then(pl.lit("negative")),
        "verdict": pl.when(is_age).then(pl.lit("consistent")).otherwise("verdict"),
        "conditional_on": pl.when(is_age).then(pl.lit("stereotypes")).otherwise("conditional_on"),
        "estimate": pl.when(is_age).then(0.5).otherwise("estimate"),
        "ci_low": pl.when(is_placebo).then(-reach).otherwise("ci_low"),
        "ci_high": pl.when(is_placebo).then(reach / 2).otherwise("ci_high"),
    }
    pl.read_parquet(path).with_columns(**changes).write_parquet(path)
    assert in_brief(directory).remarks == tuple(filter(None, [remarks]))


def test_what_single_words_must_exceed_is_stated(make_results):
    directory = make_results(keys=["age", "weight"], modes=["forced"])
    path = directory / "estimates.parquet"
    is_age = (pl.col("method") == "clustered") & (pl.col("stereotype") == "age")
    estimates = pl.read_parquet(path)
    assert "single words" not in in_brief(directory).certainty
    estimates.with_columns(
        conditional_on=pl.when(is_age)
        .then(pl.lit("stereotypes, words as arbitrary ones"))
        .otherwise(pl.lit("stereotypes")),
        ci_low=pl.when(is_age).then(-0.25).otherwise("ci_low"),
        ci_high=pl.when(is_age).then(0.25).otherwise("ci_high"),
    ).write_parquet(path)
    sentence = (
        "Leans of single words must exceed what arbitrary words vary by: ±0.25 (word association)"
    )
    assert sentence in in_brief(directory).certainty
