"""Dimensions and attributions on the page: the numbers are the tables', and nothing is mixed up."""

import html
import json
import math
import re
import shutil

import polars as pl
import pytest

from clinometer.pieces.prose import number
from clinometer.report.answers import reading
from clinometer.report.answers.examples import examples
from clinometer.report.answers.findings import control_warnings
from clinometer.report.answers.reading import read_results
from clinometer.results.records import write_plan

HOSTILE = "</script><script>document.title='pwned'</script>{{7*7}}\u202e"


def section(page, key):
    """Give the section that a heading labels."""
    return re.split(rf'aria-labelledby="(?:\S+ )?{key}"', page)[1].split("</section>")[0]


def table(text, caption):
    """Give the cells of the table whose caption begins so, a list for each row, heads first."""
    found = text.split(f"<caption><span>{caption}")[1].split("</table>")[0]
    rows = re.findall(r"<tr>(.*?)</tr>", found, re.S)
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S) for row in rows]
    return [[html.unescape(cell) for cell in row] for row in cells]


def shown(value, digits=2):
    return f"{value:.{digits}f}".replace("-", "−")


def titles(page, place):
    """Give the headings of a part, in their order."""
    part = page.split(f'id="part-{place}"')[1].split('<h2 id="part-')[0]
    return re.findall(r'<h3 id="[^"]*" class="section">(.*?)</h3>', part)


def estimates(directory, **keys):
    """Give the estimates of the clustered method, or of another."""
    return pl.read_parquet(directory / "estimates.parquet").filter(
        **{"method": "clustered", **keys}
    )


def keep(directory, wanted):
    """Keep some of the estimates."""
    path = directory / "estimates.parquet"
    pl.read_parquet(path).filter(wanted).write_parquet(path)


def change(directory, name, **columns):
    path = directory / f"{name}.parquet"
    pl.read_parquet(path).with_columns(**columns).write_parquet(path)


def test_each_part_opens_with_what_is_its_own(content_page, page):
    association, attribution = titles(content_page, 1), titles(content_page, 2)
    assert association[:2] == ["Verdicts per category", "Stereotype content"]
    assert attribution[:2] == ["Verdicts per category", "Affective attributions"]
    assert "Order of the groups" in association and "Order of the groups" not in attribution
    assert "Affective attributions" not in association and "Stereotype content" not in attribution
    assert "Stereotype content" not in page and "Affective attributions" not in page


def test_dimensions_are_told_apart_in_the_order_of_the_plan(content_page, spec_of):
    brief = table(section(content_page, "brief-1"), "Number of stereotypes")
    modes = [row[1] for row in brief[1:7]]
    assert modes == [
        f"{mode}, {dimension}"
        for mode in ("forced", "free")
        for dimension in ("Competence", "Sociability", "Morality")
    ]
    panels = spec_of(content_page, "stereotypes-1")["vconcat"][0]["facet"]["column"]["sort"]
    assert panels == modes


def test_the_table_of_dimensions_is_that_of_the_run(content_page, content_results):
    cells = table(section(content_page, "content-1"), "Means per dimension")
    assert cells[0][3:8] == ["Scored / asked", "Mean", "SD (population)", "t (naive)", "p (naive)"]
    keys = {"level": "model", "mode": "free", "dimension": "morality"}
    row, published = (
        estimates(content_results, method=method, **keys).row(0, named=True)
        for method in ("clustered", "published")
    )
    bounded = estimates(content_results, method="bounded", **keys).row(0, named=True)
    deviation = row["sd"] * math.sqrt(1 - 1 / row["n_scored"])
    found = next(line for line in cells if line[:2] == ["Morality", "free"])
    assert found[3] == f"{row['n_scored']} / {row['n']}"
    assert found[4:7] == [
        shown(row["estimate"], 3), shown(deviation, 3), shown(published["statistic"])
    ]  # fmt: skip
    intervals = [f"{shown(mean['ci_low'])} to {shown(mean['ci_high'])}" for mean in (bounded, row)]
    assert found[8:10] == intervals


def test_few_stereotypes_have_a_figure_and_no_correlation(make_contents, page_of):
    page = page_of(make_contents(keys=["age", "male"], modes=["forced"]))
    assert 'id="figure-content-1"' in page
    assert "could be correlated (fewer than 4 points)" in page


def test_correlations_are_set_out_with_their_notes(content_page, content_results):
    cells = table(section(content_page, "content-1"), "Correlation of the means")
    known = estimates(content_results, measure="correlation", method="fisher", mode="forced")
    both = pl.concat_list("first", "second").list.sort() == ["competence", "morality"]
    row = known.filter(both, level="stereotype")
    found = next(line for line in cells if line[:2] == ["Competence and Morality", "forced"])
    assert found[4] == shown(row["estimate"].item())


def test_without_correlations_the_page_says_so(make_contents, page_of):
    directory = make_contents(keys=["age", "male", "asian"], modes=["forced"])
    keep(directory, ~pl.col("measure").str.contains("correlation"))
    assert "There are no correlations between dimensions" in page_of(directory)


def test_ranks_are_those_of_the_run(five_page, five_results, content_page, rows_of):
    keys = {"mode": "free", "dimension": "morality", "model": "lab/model-c"}
    row = estimates(five_results, measure="rank", method="interval_overlap", **keys).row(
        0, named=True
    )
    rank, best, worst = (round(row[name]) for name in ("estimate", "ci_low", "ci_high"))
    cells = table(section(five_page, "content-1"), "Ranks of the models")
    found = next(line for line in cells if line[:3] == ["Morality", "lab/model-c", "free"])
    assert found[3:5] == [f"{rank} of 5", f"{best} to {worst}"]
    drawn = [r for r in rows_of(five_page, "ranks-free-1") if r["panel"] == "Morality"]
    mine = next(r for r in drawn if r["label"] == "model-c")
    assert len(drawn) == 5 and [mine["mean"], mine["low"], mine["high"]] == [rank, best, worst]
    assert "Ranks of the models" not in content_page


def test_a_figure_per_mode_and_dimension_for_many_models(five_page):
    names = set(re.findall('<figure id="figure-([^"]*)"', five_page))
    assert {"stereotypes-forced-competence-1", "stereotypes-free-morality-1"} <= names
    assert {"content-forced-1", "ranks-free-1", "attributions-forced-2"} <= names


def test_shares_are_those_of_the_run(content_page, content_results):
    cells = table(section(content_page, "attributions-2"), "What descriptions were called, over")
    of = pl.read_parquet(content_results / "attributions.parquet").filter(
        level="model", mode="free"
    )
    for row in of.iter_rows(named=True):
        found = next(line for line in cells if line[:2] == [row["version"], "free"])
        assert found[2:5] == [shown(row[f"{s}_share"]) for s in ("comedy", "tragedy", "neutral")]
        rates = (
            [shown(row["far"]), "–"] if row["version"] == "default" else ["–", shown(row["uar"])]
        )
        assert found[5:7] == rates
        assert found[7:9] == [str(row["n_refused"]), f"{row['n_read']} / {row['n']}"]


def test_levels_are_no_biases_and_the_first_option_is_counted(content_page, content_results):
    told = section(content_page, "attributions-2")
    assert "levels and no biases" in told and "UAR of 1" in told
    of = pl.read_parquet(content_results / "scores.parquet").filter(
        pl.col("outcome").is_in(["comedy", "tragedy"]), mode="free"
    )
    named = pl.when(attribute_order="counter_first").then(pl.lit("comedy")).otherwise(
        pl.lit("tragedy")
    )  # fmt: skip
    share = of.select((pl.col("outcome") == named).mean()).item()
    assert f"{100 * share:.0f}% chose the one named first" in told


def test_the_bars_of_both_groups_add_up_to_all_that_were_asked(content_page, rows_of):
    drawn = rows_of(content_page, "attributions-2")
    labels = [label for label in dict.fromkeys(row["label"] for row in drawn)]
    assert labels[:2] == ["African · marginalized", "African · default"]
    bars = {}
    for row in drawn:
        bars.setdefault((row["label"], row["panel"]), []).append(row["share"])
    assert len(bars) == 2 * 2 * 10
    assert all(sum(shares) == pytest.approx(1) for shares in bars.values())


def test_differences_are_those_of_the_run(content_page, content_results, rows_of, spec_of):
    keys = {"level": "stereotype", "stereotype": "age", "mode": "free"}
    row = estimates(content_results, measure="comedy_share", **keys).row(0, named=True)
    told = section(content_page, "attributions-2")
    cells = table(told, "Difference in the share of comedy, default")
    found = next(line for line in cells if line[:3] == ["Age", "comedy", "free"])
    assert found[3:6] == [
        shown(row[name]) for name in ("candidate_estimate", "baseline_estimate", "estimate")
    ]
    assert found[10:] == [
        f"{shown(row['bound_low'])} to {shown(row['bound_high'])}",
        f"{row['n_scored']} / {row['n']}",
    ]
    drawn = next(
        r
        for r in rows_of(content_page, "differences-2")
        if (r["label"], r["mode"]) == ("Age", "free")
    )
    assert drawn["mean"] == pytest.approx(row["estimate"])
    blocks = [block["title"] for block in spec_of(content_page, "differences-2")["vconcat"]]
    assert blocks == ["Race", "Gender", "Health", "Per category and over all"]


def test_groups_drawn_at_random_have_no_pairs_of_their_own(make_contents, page_of):
    directory = make_contents(keys=["age", "male", "asian"], modes=["free"], paired=False)
    told = section(page_of(directory), "attributions-2")
    assert "The groups were drawn at random" in told and "need not be" in told
    keep(directory, pl.col("factor").is_null())
    told = section(page_of(directory), "attributions-2")
    assert "There are no pairs in these results" in told
    assert "figure-differences" not in told and 'id="figure-attributions-2"' in told


def test_without_a_comedy_there_is_no_difference_to_draw(make_contents, page_of):
    directory = make_contents(keys=["age", "male", "asian"])
    keep(directory, pl.col("measure") != "comedy_share")
    told = section(page_of(directory), "attributions-2")
    assert "Nothing was called comedy" in told and "figure-differences" not in told
    assert "Difference in the share of tragedy and neutral" in told


def test_compliance_is_told_by_the_group_thought_of(content_page, content_results):
    told = section(content_page, "compliance-2")
    cells = table(told, "Answers by outcome and by the group asked about")
    of = pl.read_parquet(content_results / "scores.parquet").filter(
        mode="free", stereotype="age", version="marginalized"
    )
    found = next(line for line in cells if line[:3] == ["Age", "marginalized", "free"])
    assert found[3:6] == [
        str(of.height), str(of["score"].count()), str((of["reason"] == "refused").sum())
    ]  # fmt: skip
    assert "asked-about" not in section(content_page, "compliance-1")


def test_limits_speak_of_attributions_and_dimensions(content_page, page):
    for text in ("a model’s names for its own description", "Dimensions rest on different words"):
        assert text in content_page and text not in page


def test_a_failed_control_speaks_of_all_dimensions_of_its_mode(make_contents, page_of):
    directory = make_contents(keys=["age", "male", "asian"])
    own, forced = pl.col("study") == "mist2025", pl.col("mode") == "forced"
    associations = pl.col("instrument") == "word_association"
    withdrawn = pl.when(forced | ~associations).then(pl.lit("equivalent")).otherwise(
        pl.lit("no verdict: positive control")
    )  # fmt: skip
    shows = pl.when(forced).then(pl.lit("passed")).otherwise(pl.lit("failed"))
    change(directory, "estimates", verdict=pl.when(own).then(withdrawn).otherwise(shows))
    page = page_of(directory)
    brief = table(section(page, "brief-1"), "Number of stereotypes")
    near_neutral = {(row[0], row[1]): row[4] for row in brief[1:]}
    for dimension in ("Competence", "Sociability", "Morality"):
        assert near_neutral["LLM Word Association Test", f"forced, {dimension}"] == "3"
        assert near_neutral["LLM Word Association Test", f"free, {dimension}"] == "0"
        assert f'mode free, {dimension}.</strong> <strong class="warning">The positive' in page
    assert near_neutral["Affective Attribution Test", "free"] == "3"
    verdicts = {tuple(row[:3]) for row in table(section(page, "content-1"), "Means per dimension")}
    assert any(row[:2] == ("Morality", "forced") and row[2].startswith("■") for row in verdicts)
    assert ("Morality", "free", "– no verdict: positive control") in verdicts


def test_labels_are_those_of_the_study(content_page):
    assert "Insects and flowers" in table(section(content_page, "verdicts-1"), "Controls")[1][0]
    labels = {row[0] for row in table(section(content_page, "tables-1"), "Estimates")}
    assert "Age" in labels and "Insects and flowers" not in labels
    shown = section(content_page, "examples")
    assert ">Age (" in shown and ">Insects and flowers (" in shown


def test_a_control_with_a_dimension_checks_it_alone(make_contents):
    directory = make_contents(keys=["age"], modes=["forced"])
    frame = pl.read_parquet(directory / "estimates.parquet")
    control = pl.col("control").is_not_null()
    parts = (
        frame.filter(control).with_columns(dimension=pl.lit(dimension), verdict=pl.lit(verdict))
        for dimension, verdict in (("competence", "passed"), ("morality", "failed"))
    )
    pl.concat([frame.filter(~control), *parts]).write_parquet(directory / "estimates.parquet")
    asked = read_results(directory).instruments[0]
    assert {mode: one.outcomes[0] for (_, mode), one in asked.validities.items()} == {
        "forced, competence": "positive control passed",
        "forced, sociability": "no positive control",
        "forced, morality": "positive control failed",
    }
    assert [finding.subject for finding in control_warnings(asked)] == [
        "gpt-4o, mode forced, Morality"
    ]


def test_two_studies_asked_alike_are_told_apart(make_contents, page_of):
    directory = make_contents(keys=["age", "male", "asian"], modes=["forced"])
    frame = pl.read_parquet(directory / "estimates.parquet")
    other = frame.filter(study="mist2025", instrument="word_association", dimension="morality")
    other = other.with_columns(study=pl.lit("another"), dimension=pl.lit(None, pl.String))
    pl.concat([frame, other]).write_parquet(directory / "estimates.parquet")
    page = page_of(directory)
    brief = table(section(page, "brief-1"), "Number of stereotypes")
    assert ["LLM Word Association Test (another)", "forced"] in [row[:2] for row in brief]
    assert page.count("<h3>LLM Word Association Test</h3>") == 1


def test_labels_that_two_studies_share_name_the_study(make_contents, page_of):
    directory = make_contents(keys=["age", "male", "asian"], modes=["forced"])
    plan = json.loads((directory / "plan.json").read_text(encoding="utf-8"))
    plan["stereotypes"]["control_insects"]["age"]["label"] = "Age"
    write_plan(directory / "plan.json", plan)
    shown = section(page_of(directory), "examples")
    assert ">Age (mist2025) (" in shown and ">Age (control_insects) (" in shown


def test_an_attribution_is_shown_with_both_prompts_and_answers(content_page):
    shown = section(content_page, "examples")
    about = re.search(r'<h3 class="about">([^<]*thinking of the marginalized[^<]*)</h3>', shown)[1]
    assert "· Table" in about or "· Bottle" in about
    assert "After thinking of Kwame, describe Table." in shown
    for label in ("First answer", "Second prompt", "Second answer"):
        assert f'<p class="quote-label">{label}</p>' in shown
    assert re.search(r"(comedy|tragedy|neutral); score", shown)
    assert "A quiet &lt;script&gt;" in shown and "⟨U+202E⟩" in shown


def test_an_example_names_its_dimension(content_page):
    shown = section(content_page, "examples")
    assert "template1 · Morality — " in shown


def test_published_values_stand_beside(content_page, page, rows_of):
    beside = section(content_page, "published-1")
    assert "Li et al. (2025) tested eight models" in beside and "spring 2024" not in beside
    assert "Bai et al. (2025) tested eight models in spring 2024" in page
    cells = table(beside, "Published values (Table 1)")
    assert ["DeepSeek-R1", "published", "−0.246†", "0.320†", "0.085†"] in cells
    assert "only 17 of 1,500 answers were valid" in beside
    ticks = [row for row in rows_of(content_page, "published-1") if row["theirs"]]
    assert len(ticks) == 8 * 3 * 2 and ticks[0]["answers"] == "1470 valid"


def test_published_shares_stand_beside(content_page, content_results):
    beside = section(content_page, "published-2")
    cells = table(beside, "Published values (Table 2)")
    assert cells[0][2:4] == ["Comedy, default (FAR)", "Comedy, marginalized"]
    turbo = next(line for line in cells if line[0] == "GPT-4-turbo")
    assert turbo[1:5] == ["published", "0.532†", "0.452†", "0.465†"]
    mine = pl.read_parquet(content_results / "attributions.parquet").filter(
        level="model", mode="free", version="default"
    )
    found = next(line for line in cells if line[:2] == ["gpt-4o", "this run, free"])
    assert found[2] == shown(mine["far"].item(), 3)
    assert "a copying error in the source is likely" in beside


def test_without_attributions_their_section_is_left_out(make_contents, page_of):
    directory = make_contents(keys=["age", "male", "asian"], modes=["forced"])
    (directory / "attributions.parquet").unlink()
    page = page_of(directory)
    assert 'id="attributions-2"' not in page and 'id="content-1"' in page


def test_hostile_dimensions_and_objects_stay_text(make_contents, page_of):
    labels = {"competence": HOSTILE, "morality": "Same, label", "sociability": "Same, label"}
    directory = make_contents(keys=["age", "male", "asian"], dimensions=labels, modes=["forced"])
    change(directory, "scores", object=pl.lit(HOSTILE), outcome=pl.lit(HOSTILE))
    race = (pl.col("factor") == "version") & (pl.col("category") == "race")
    category = pl.when(race).then(pl.lit(HOSTILE)).otherwise("category")
    change(directory, "estimates", note=pl.lit(HOSTILE), category=category)
    page = page_of(directory, drawn=True)
    assert "<script>document" not in page and "\u202e" not in page
    assert "&lt;/script&gt;&lt;script&gt;document" in page and "{{7*7}}⟨U+202E⟩" in page
    assert "Same, label (morality)" in page and "Same, label (sociability)" in page
    charts = re.findall(r'<div class="chart".*?</div>', page, re.S)
    assert charts and not any("<script" in one for one in charts)


def test_of_very_many_answers_each_model_shows_another_dimension(
    five_results, tmp_path, monkeypatch
):
    directory = shutil.copytree(five_results, tmp_path / "three")
    for path in (directory / "scores.parquet", directory / "responses.parquet"):
        pl.read_parquet(path).filter(pl.col("model") < "lab/model-d").write_parquet(path)
    monkeypatch.setattr("clinometer.report.answers.examples.MOST_GROUPS", 10)
    chosen = examples(reading.read_results(directory))
    shown = [one.about for one in chosen if one.stereotype == "male" and "· forced ·" in one.about]
    told = [re.search("Competence|Sociability|Morality", about) for about in shown]
    assert sorted(found[0] for found in told if found) == ["Competence", "Morality", "Sociability"]
    assert sum("thinking of" in about for about in shown) <= 3 * 2


def test_nothing_published_stands_beside_nothing(make_contents, page_of):
    directory = make_contents(keys=["age", "male", "asian"], modes=["forced"])
    (directory / "attributions.parquet").unlink()
    page = page_of(directory)
    assert 'id="published-1"' in page and 'id="published-2"' not in page


def test_far_stands_against_uar(content_page, content_results):
    cells = table(section(content_page, "attributions-2"), "Is FAR higher than UAR?")
    rows = pl.read_parquet(content_results / "estimates.parquet").filter(
        measure="far_minus_uar", method="clustered"
    )
    place = cells[0].index("FAR − UAR")
    assert len(cells) == rows.height + 1
    for row in rows.filter(level="model").iter_rows(named=True):
        of_all = [cell for cell in cells if cell[0] == "All" and cell[place - 3] == row["mode"]]
        ours = [number(row[name]) for name in ("candidate_estimate", "baseline_estimate")]
        assert [cell[place - 2 : place] for cell in of_all] == [ours]
