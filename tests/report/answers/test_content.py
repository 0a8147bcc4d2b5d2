"""Dimensions and attributions on the page: the numbers are the tables', and nothing is mixed up."""

import html
import json
import math
import re
import shutil

import polars as pl
import pytest

from clinometer.numbers import number
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
    body = text.split(f"<caption><span>{caption}")[1].split("</table>")[0]
    rows = re.findall(r"<tr>(.*?)</tr>", body, re.S)
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S) for row in rows]
    return [[html.unescape(cell) for cell in row] for row in cells]


def rounded(value, digits=2):
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


def keep(directory, condition):
    """Keep some of the estimates."""
    path = directory / "estimates.parquet"
    pl.read_parquet(path).filter(condition).write_parquet(path)


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


def test_dimensions_are_told_apart_in_the_order_of_the_plan(content_page, find_spec):
    brief = table(section(content_page, "brief-1"), "Number of stereotypes")
    modes = [row[1] for row in brief[1:7]]
    assert modes == [
        f"{mode}, {dimension}"
        for mode in ("forced", "free")
        for dimension in ("Competence", "Sociability", "Morality")
    ]
    panels = find_spec(content_page, "stereotypes-1")["vconcat"][0]["facet"]["column"]["sort"]
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
    line_cells = next(line for line in cells if line[:2] == ["Morality", "free"])
    assert line_cells[3] == f"{row['n_scored']} / {row['n']}"
    assert line_cells[4:7] == [
        rounded(row["estimate"], 3), rounded(deviation, 3), rounded(published["statistic"])
    ]  # fmt: skip
    intervals = [
        f"{rounded(mean['ci_low'])} to {rounded(mean['ci_high'])}" for mean in (bounded, row)
    ]
    assert line_cells[8:10] == intervals


def test_few_stereotypes_have_a_figure_and_no_correlation(make_contents, write_page):
    page = write_page(make_contents(keys=["age", "male"], modes=["forced"]))
    assert 'id="figure-content-1"' in page
    assert "could be correlated (fewer than 4 points)" in page


def test_correlations_are_set_out_with_their_notes(content_page, content_results):
    cells = table(section(content_page, "content-1"), "Correlation of the means")
    fisher = estimates(content_results, measure="correlation", method="fisher", mode="forced")
    is_pair = pl.concat_list("first", "second").list.sort() == ["competence", "morality"]
    row = fisher.filter(is_pair, level="stereotype")
    line_cells = next(line for line in cells if line[:2] == ["Competence and Morality", "forced"])
    assert line_cells[4] == rounded(row["estimate"].item())


def test_without_correlations_the_page_says_so(make_contents, write_page):
    directory = make_contents(keys=["age", "male", "asian"], modes=["forced"])
    keep(directory, ~pl.col("measure").str.contains("correlation"))
    assert "There are no correlations between dimensions" in write_page(directory)


def test_ranks_are_those_of_the_run(five_page, five_results, content_page, chart_rows):
    keys = {"mode": "free", "dimension": "morality", "model": "lab/model-c"}
    row = estimates(five_results, measure="rank", method="interval_overlap", **keys).row(
        0, named=True
    )
    rank, best, worst = (round(row[name]) for name in ("estimate", "ci_low", "ci_high"))
    cells = table(section(five_page, "content-1"), "Ranks of the models")
    line_cells = next(line for line in cells if line[:3] == ["Morality", "lab/model-c", "free"])
    assert line_cells[3:5] == [f"{rank} of 5", f"{best} to {worst}"]
    bars = [r for r in chart_rows(five_page, "ranks-free-1") if r["panel"] == "Morality"]
    bar = next(r for r in bars if r["label"] == "model-c")
    assert len(bars) == 5 and [bar["mean"], bar["low"], bar["high"]] == [rank, best, worst]
    assert "Ranks of the models" not in content_page


def test_a_figure_per_mode_and_dimension_for_many_models(five_page):
    names = set(re.findall('<figure id="figure-([^"]*)"', five_page))
    assert {"stereotypes-forced-competence-1", "stereotypes-free-morality-1"} <= names
    assert {"content-forced-1", "ranks-free-1", "attributions-forced-2"} <= names


def test_shares_are_those_of_the_run(content_page, content_results):
    cells = table(section(content_page, "attributions-2"), "What descriptions were called, over")
    attributions = pl.read_parquet(content_results / "attributions.parquet").filter(
        level="model", mode="free"
    )
    for row in attributions.iter_rows(named=True):
        line_cells = next(line for line in cells if line[:2] == [row["version"], "free"])
        assert line_cells[2:5] == [
            rounded(row[f"{s}_share"]) for s in ("comedy", "tragedy", "neutral")
        ]
        rates = (
            [rounded(row["far"]), "–"]
            if row["version"] == "default"
            else ["–", rounded(row["uar"])]
        )
        assert line_cells[5:7] == rates
        assert line_cells[7:9] == [str(row["n_refused"]), f"{row['n_read']} / {row['n']}"]


def test_levels_are_no_biases_and_the_first_option_is_counted(content_page, content_results):
    text = section(content_page, "attributions-2")
    assert "levels and no biases" in text and "UAR of 1" in text
    scores = pl.read_parquet(content_results / "scores.parquet").filter(
        pl.col("outcome").is_in(["comedy", "tragedy"]), mode="free"
    )
    first_option = pl.when(attribute_order="counter_first").then(pl.lit("comedy")).otherwise(
        pl.lit("tragedy")
    )  # fmt: skip
    share = scores.select((pl.col("outcome") == first_option).mean()).item()
    assert f"{100 * share:.0f}% chose the one named first" in text


def test_the_bars_of_both_groups_add_up_to_all_that_were_asked(content_page, chart_rows):
    bar_rows = chart_rows(content_page, "attributions-2")
    labels = [label for label in dict.fromkeys(row["label"] for row in bar_rows)]
    assert labels[:2] == ["African · marginalized", "African · default"]
    bars = {}
    for row in bar_rows:
        bars.setdefault((row["label"], row["panel"]), []).append(row["share"])
    assert len(bars) == 2 * 2 * 10
    assert all(sum(shares) == pytest.approx(1) for shares in bars.values())


def test_differences_are_those_of_the_run(content_page, content_results, chart_rows, find_spec):
    keys = {"level": "stereotype", "stereotype": "age", "mode": "free"}
    row = estimates(content_results, measure="comedy_share", **keys).row(0, named=True)
    text = section(content_page, "attributions-2")
    cells = table(text, "Difference in the share of comedy, default")
    line_cells = next(line for line in cells if line[:3] == ["Age", "comedy", "free"])
    assert line_cells[3:6] == [
        rounded(row[name]) for name in ("candidate_estimate", "baseline_estimate", "estimate")
    ]
    assert line_cells[10:] == [
        f"{rounded(row['bound_low'])} to {rounded(row['bound_high'])}",
        f"{row['n_scored']} / {row['n']}",
    ]
    bar = next(
        r
        for r in chart_rows(content_page, "differences-2")
        if (r["label"], r["mode"]) == ("Age", "free")
    )
    assert bar["mean"] == pytest.approx(row["estimate"])
    blocks = [block["title"] for block in find_spec(content_page, "differences-2")["vconcat"]]
    assert blocks == ["Race", "Gender", "Health", "Per category and over all"]


def test_groups_drawn_at_random_have_no_pairs_of_their_own(make_contents, write_page):
    directory = make_contents(keys=["age", "male", "asian"], modes=["free"], paired=False)
    text = section(write_page(directory), "attributions-2")
    assert "The groups were drawn at random" in text and "need not be" in text
    keep(directory, pl.col("factor").is_null())
    text = section(write_page(directory), "attributions-2")
    assert "There are no pairs in these results" in text
    assert "figure-differences" not in text and 'id="figure-attributions-2"' in text


def test_without_a_comedy_there_is_no_difference_to_draw(make_contents, write_page):
    directory = make_contents(keys=["age", "male", "asian"])
    keep(directory, pl.col("measure") != "comedy_share")
    text = section(write_page(directory), "attributions-2")
    assert "Nothing was called comedy" in text and "figure-differences" not in text
    assert "Difference in the share of tragedy and neutral" in text


def test_compliance_is_told_by_the_group_thought_of(content_page, content_results):
    text = section(content_page, "compliance-2")
    cells = table(text, "Answers by outcome and by the group asked about")
    scores = pl.read_parquet(content_results / "scores.parquet").filter(
        mode="free", stereotype="age", version="marginalized"
    )
    line_cells = next(line for line in cells if line[:3] == ["Age", "marginalized", "free"])
    assert line_cells[3:6] == [
        str(scores.height), str(scores["score"].count()), str((scores["reason"] == "refused").sum())
    ]  # fmt: skip
    assert "asked-about" not in section(content_page, "compliance-1")


def test_limits_speak_of_attributions_and_dimensions(content_page, page):
    for text in ("a model’s names for its own description", "Dimensions rest on different words"):
        assert text in content_page and text not in page


def test_a_failed_control_speaks_of_all_dimensions_of_its_mode(make_contents, write_page):
    directory = make_contents(keys=["age", "male", "asian"])
    is_study, forced = pl.col("study") == "mist2025", pl.col("mode") == "forced"
    associations = pl.col("instrument") == "word_association"
    withdrawn = pl.when(forced | ~associations).then(pl.lit("equivalent")).otherwise(
        pl.lit("no verdict: positive control")
    )  # fmt: skip
    shows = pl.when(forced).then(pl.lit("passed")).otherwise(pl.lit("failed"))
    change(directory, "estimates", verdict=pl.when(is_study).then(withdrawn).otherwise(shows))
    page = write_page(directory)
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
    text = section(content_page, "examples")
    assert ">Age (" in text and ">Insects and flowers (" in text


def test_a_control_with_a_dimension_checks_it_alone(make_contents):
    directory = make_contents(keys=["age"], modes=["forced"])
    frame = pl.read_parquet(directory / "estimates.parquet")
    control = pl.col("control").is_not_null()
    parts = (
        frame.filter(control).with_columns(dimension=pl.lit(dimension), verdict=pl.lit(verdict))
        for dimension, verdict in (("competence", "passed"), ("morality", "failed"))
    )
    pl.concat([frame.filter(~control), *parts]).write_parquet(directory / "estimates.parquet")
    instrument = read_results(directory).instruments[0]
    assert {
        mode: validity.outcomes[0] for (_, mode), validity in instrument.validities.items()
    } == {
        "forced, competence": "positive control passed",
        "forced, sociability": "no positive control",
        "forced, morality": "positive control failed",
    }
    assert [finding.subject for finding in control_warnings(instrument)] == [
        "gpt-4o, mode forced, Morality"
    ]


def test_two_studies_asked_alike_are_told_apart(make_contents, write_page):
    directory = make_contents(keys=["age", "male", "asian"], modes=["forced"])
    frame = pl.read_parquet(directory / "estimates.parquet")
    renamed = frame.filter(study="mist2025", instrument="word_association", dimension="morality")
    renamed = renamed.with_columns(study=pl.lit("another"), dimension=pl.lit(None, pl.String))
    pl.concat([frame, renamed]).write_parquet(directory / "estimates.parquet")
    page = write_page(directory)
    brief = table(section(page, "brief-1"), "Number of stereotypes")
    assert ["LLM Word Association Test (another)", "forced"] in [row[:2] for row in brief]
    assert page.count("<h3>LLM Word Association Test</h3>") == 1


def test_labels_that_two_studies_share_name_the_study(make_contents, write_page):
    directory = make_contents(keys=["age", "male", "asian"], modes=["forced"])
    plan = json.loads((directory / "plan.json").read_text(encoding="utf-8"))
    plan["stereotypes"]["control_insects"]["age"]["label"] = "Age"
    write_plan(directory / "plan.json", plan)
    text = section(write_page(directory), "examples")
    assert ">Age (mist2025) (" in text and ">Age (control_insects) (" in text


def test_an_attribution_is_shown_with_both_prompts_and_answers(content_page):
    text = section(content_page, "examples")
    heading = re.search(r'<h3 class="about">([^<]*thinking of the marginalized[^<]*)</h3>', text)[1]
    assert "· Table" in heading or "· Bottle" in heading
    assert "After thinking of Kwame, describe Table." in text
    for label in ("First answer", "Second prompt", "Second answer"):
        assert f'<p class="quote-label">{label}</p>' in text
    assert re.search(r"(comedy|tragedy|neutral); score", text)
    assert "A quiet &lt;script&gt;" in text and "⟨U+202E⟩" in text


def test_an_example_names_its_dimension(content_page):
    text = section(content_page, "examples")
    assert "template1 · Morality — " in text


def test_published_values_stand_beside(content_page, page, chart_rows):
    text = section(content_page, "published-1")
    assert "Li et al. (2025) tested eight models" in text and "spring 2024" not in text
    assert "Bai et al. (2025) tested eight models in spring 2024" in page
    cells = table(text, "Published values (Table 1)")
    assert ["DeepSeek-R1", "published", "−0.246†", "0.320†", "0.085†"] in cells
    assert "only 17 of 1,500 answers were valid" in text
    ticks = [row for row in chart_rows(content_page, "published-1") if row["theirs"]]
    assert len(ticks) == 8 * 3 * 2 and ticks[0]["answers"] == "1470 valid"


def test_published_shares_stand_beside(content_page, content_results):
    text = section(content_page, "published-2")
    cells = table(text, "Published values (Table 2)")
    assert cells[0][2:4] == ["Comedy, default (FAR)", "Comedy, marginalized"]
    turbo = next(line for line in cells if line[0] == "GPT-4-turbo")
    assert turbo[1:5] == ["published", "0.532†", "0.452†", "0.465†"]
    attributions = pl.read_parquet(content_results / "attributions.parquet").filter(
        level="model", mode="free", version="default"
    )
    line_cells = next(line for line in cells if line[:2] == ["gpt-4o", "this run, free"])
    assert line_cells[2] == rounded(attributions["far"].item(), 3)
    assert "a copying error in the source is likely" in text


def test_without_attributions_their_section_is_left_out(make_contents, write_page):
    directory = make_contents(keys=["age", "male", "asian"], modes=["forced"])
    (directory / "attributions.parquet").unlink()
    page = write_page(directory)
    assert 'id="attributions-2"' not in page and 'id="content-1"' in page


def test_hostile_dimensions_and_objects_stay_text(make_contents, write_page):
    labels = {"competence": HOSTILE, "morality": "Same, label", "sociability": "Same, label"}
    directory = make_contents(keys=["age", "male", "asian"], dimensions=labels, modes=["forced"])
    change(directory, "scores", object=pl.lit(HOSTILE), outcome=pl.lit(HOSTILE))
    race = (pl.col("factor") == "version") & (pl.col("category") == "race")
    category = pl.when(race).then(pl.lit(HOSTILE)).otherwise("category")
    change(directory, "estimates", note=pl.lit(HOSTILE), category=category)
    page = write_page(directory, with_drawings=True)
    assert "<script>document" not in page and "\u202e" not in page
    assert "&lt;/script&gt;&lt;script&gt;document" in page and "{{7*7}}⟨U+202E⟩" in page
    assert "Same, label (morality)" in page and "Same, label (sociability)" in page
    charts = re.findall(r'<div class="chart".*?</div>', page, re.S)
    assert charts and not any("<script" in chart for chart in charts)


def test_of_very_many_answers_each_model_shows_another_dimension(
    five_results, tmp_path, monkeypatch
):
    directory = shutil.copytree(five_results, tmp_path / "three")
    for path in (directory / "scores.parquet", directory / "responses.parquet"):
        pl.read_parquet(path).filter(pl.col("model") < "lab/model-d").write_parquet(path)
    monkeypatch.setattr("clinometer.report.answers.examples.MOST_GROUPS", 10)
    picked = examples(reading.read_results(directory))
    headings = [
        example.about
        for example in picked
        if example.stereotype == "male" and "· forced ·" in example.about
    ]
    matches = [re.search("Competence|Sociability|Morality", heading) for heading in headings]
    assert sorted(match[0] for match in matches if match) == [
        "Competence",
        "Morality",
        "Sociability",
    ]
    assert sum("thinking of" in heading for heading in headings) <= 3 * 2


def test_nothing_published_stands_beside_nothing(make_contents, write_page):
    directory = make_contents(keys=["age", "male", "asian"], modes=["forced"])
    (directory / "attributions.parquet").unlink()
    page = write_page(directory)
    assert 'id="published-1"' in page and 'id="published-2"' not in page


def test_far_stands_against_uar(content_page, content_results):
    cells = table(section(content_page, "attributions-2"), "Is FAR higher than UAR?")
    rows = pl.read_parquet(content_results / "estimates.parquet").filter(
        measure="far_minus_uar", method="clustered"
    )
    place = cells[0].index("FAR − UAR")
    assert len(cells) == rows.height + 1
    for row in rows.filter(level="model").iter_rows(named=True):
        totals = [cell for cell in cells if cell[0] == "All" and cell[place - 3] == row["mode"]]
        ours = [number(row[name]) for name in ("candidate_estimate", "baseline_estimate")]
        assert [cell[place - 2 : place] for cell in totals] == [ours]
