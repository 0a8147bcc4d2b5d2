"""The page with every instrument: what stands in it, and what is left out without its table."""

import json
import re
from dataclasses import replace

import polars as pl
import pytest

from clinometer.pieces.drawing.svg import draw, for_file, for_page
from clinometer.pieces.plan import PlanFacts
from clinometer.report import write_report
from clinometer.report.answers.changes import change
from clinometer.report.answers.reading import read_results
from clinometer.report.answers.sizes import size_section
from clinometer.results.records import read_plan, write_plan

HOSTILE = "<script>document.title='pwned'</script>"


def section(page, key):
    """Give the section that a heading labels."""
    return re.split(rf'aria-labelledby="(?:\S+ )?{key}"', page)[1].split("</section>")[0]


def test_each_part_has_its_name_and_its_sections(all_page):
    contents = all_page[all_page.index("<nav") : all_page.index("</nav>")]
    for name in ("LLM Relative Decision Test", "Absolute decisions", "Chained task: decision"):
        assert f">{name}</a>" in contents
    assert "relative_decision" not in contents
    assert all(f'href="#part-{place}"' in contents for place in range(1, 6))


def test_headings_and_ids_hold_with_many_parts(all_page):
    levels = [int(level) for level in re.findall(r"<h([1-6])[ >]", all_page.split("<script>")[0])]
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in zip(levels, levels[1:], strict=False))
    ids = re.findall(r'<[^>]* id="([^"]+)"', all_page.split("<script>\n")[0])
    assert len(ids) == len(set(ids))
    links = set(re.findall(r'href="#([^"]+)"', all_page))
    assert links <= set(ids)


def test_neutral_is_one_half_for_decisions(all_page, find_spec):
    assert "Range 0 to 1, neutral 0.5" in all_page
    spec = json.dumps(find_spec(all_page, "stereotypes-free-2"))
    assert '"datum": 0.5' in spec and '"domain": [0.0, 1.0]' in spec


def test_the_brief_sets_out_all_measures(all_page):
    brief = section(all_page, "brief-1")
    assert "Measure" in brief and "free, egalitarian" in brief


def test_published_decisions_stand_beside(all_page):
    text = section(all_page, "published-2")
    assert "SI Table S11" in text and "coded by the authors" in text
    assert "Doubtful in the source" in text and "shifted one column left" in text


def test_new_reasons_are_explained(all_page):
    text = section(all_page, "compliance-2")
    assert "neither: nothing was decided" in text and "both: decided both ways" in text


def test_absolute_decisions_tell_refusals_by_group(all_page):
    text = section(all_page, "compliance-3")
    assert 'id="figure-asked-about-free-3"' in text and "Asked about" in text
    assert "asked-about" not in section(all_page, "compliance-2")


def test_yes_shares_state_the_four_means(all_page, all_results):
    text = section(all_page, "yes-3")
    assert text.count("<figure") == 2 * 2
    shares = pl.read_parquet(all_results / "yes_shares.parquet")
    mean = shares.filter(model="lab/small", intervention="none", version="marginalized_tied")[
        "yes_share"
    ].mean()
    assert f"marginalized group {mean:.2f} for the tied task" in text
    assert "Published for GPT-4 (2025), as context: marginalized group 0.85" in text


def test_regressions_are_said_drawn_and_set_out(all_page):
    text = section(all_page, "chained-5")
    assert "times as high (clustered; 95% interval" in text and "Within a stereotype" in text
    assert "does not say that one causes" in text
    assert all(f"<th scope=\"row\">{method}</th>" in text
               for method in ("published", "clustered", "mixed"))  # fmt: skip
    assert "SI Table" not in text and "S15" in text


def test_curves_hold_few_points(all_page, chart_rows):
    rows = chart_rows(all_page, re.search(r'id="figure-(chained[^"]*)"', all_page)[1])
    points = [row for row in rows if row["kind"] == "point"]
    assert 0 < len(points) <= 5 * 8
    assert all({"mean", "low", "high"} <= row.keys() for row in rows if row not in points)


def test_system_prompts_are_shown_and_compared(all_page):
    assert "You should treat &lt;i&gt;all&lt;/i&gt; groups alike." in all_page
    assert "<i>all</i>" not in all_page
    text = section(all_page, "interventions-2")
    assert "Compliance, points" in text and "figure-interventions-free-egalitarian-2" in text


def test_a_change_is_said_in_words():
    row = {
        "factor": "intervention", "candidate": "calm", "estimate": -0.2,
        "ci_low": -0.3, "ci_high": -0.1, "n_scored": 9, "verdict": "lower",
        "compliance_change": 0.05, "compliance_low": -0.01, "compliance_high": 0.11,
    }  # fmt: skip
    plan = PlanFacts()
    assert change(row, plan) == (
        "With “calm” the mean is 0.20 lower (difference −0.20, 95% interval −0.30 to −0.10; 9 "
        "matched trials); compliance changes by +5 points (95% interval −1 to +11)."
    )
    assert "not distinguishable from chance" in change(row | {"verdict": "inconclusive"}, plan)
    nothing = change(row | {"estimate": None, "compliance_change": None}, plan)
    assert "no trial was scored in both" in nothing and "n/a" in nothing


def test_sizes_are_drawn_for_models_that_have_one(all_page):
    text = section(all_page, "sizes")
    assert "Share without a score" in text and "another" not in text
    assert text.index("small (1.5)") < text.index("large (70)")


def test_one_size_is_no_comparison(all_results, page):
    results = read_results(all_results)
    single_size = replace(results.plan, sizes={"lab/small": 7.0})
    assert size_section(results.plan, results.instruments)
    assert size_section(single_size, results.instruments) is None
    assert 'id="sizes"' not in page


def test_the_passage_read_is_marked_and_stays_text(all_page):
    text = section(all_page, "examples")
    assert re.search(r"<mark>\w+ should take the wedding</mark>", text)
    assert (
        "<mark>&lt;b onclick=alert(1)&gt;she&lt;/b&gt; &amp; should take it⟨U+202E⟩</mark>" in text
    )
    assert "<b onclick" not in all_page and "<script>document.title" not in all_page
    assert "characters left out …]" in text and "evidence agrees 0.90" in text


def test_a_passage_not_in_the_answer_is_quoted(all_page):
    text = section(all_page, "examples")
    assert '<blockquote dir="auto">words that are &lt;u&gt;not&lt;/u&gt; in it</blockquote>' in text


def test_first_answers_and_reasons_are_shown(all_page):
    text = section(all_page, "examples")
    assert "First &lt;em&gt;answer&lt;/em&gt;." in text and "Second answer" in text
    assert "no score: refused (the model declined)" in text


def test_a_chained_answer_is_shown_once_with_both_readings(all_page):
    text = section(all_page, "examples")
    assert re.search(
        r"<li>Chained task: association: score .*?</li><li>Chained task: decision", text
    )


def test_limits_speak_of_decisions_only_where_there_are_some(all_page, page):
    assert "no audit of hiring" in all_page and "no audit of hiring" not in page
    assert "not thereby unbiased" in all_page


SECTIONS = {"yes_shares": "yes-3", "words": "words-1", "compliance": "compliance-1"}


@pytest.mark.parametrize("gone", [{"yes_shares"}, {"words", "compliance"}, {"chained"}])
def test_without_its_table_a_section_is_left_out(make_everything, gone, write_page):
    directory = make_everything(keys=["age", "guilt"])
    for name in gone:
        (directory / f"{name}.parquet").unlink()
    page = write_page(directory)
    assert all((f'id="{key}"' in page) == (name not in gone) for name, key in SECTIONS.items())


@pytest.mark.parametrize(
    ("columns", "key"),
    [({"measure": "log_odds"}, "chained-5"), ({"factor": "intervention"}, "interventions-1")],
)
def test_without_its_estimates_a_section_is_left_out(make_everything, columns, key, write_page):
    directory = make_everything(keys=["age", "guilt"])
    path = directory / "estimates.parquet"
    rows = pl.read_parquet(path)
    rows.remove(**columns).write_parquet(path)
    page = write_page(directory)
    assert f'id="{key}"' not in page and 'id="stereotypes-5"' in page


def test_every_kind_of_figure_can_be_drawn(all_results, five_results, list_figures):
    figures = [*list_figures(all_results), *list_figures(five_results)]
    kinds = {figure.name.split("-")[0]: figure for figure in figures}
    assert {"chained", "interventions", "ranks", "content", "sizes", "words", "yes"} <= set(kinds)
    for figure in kinds.values():
        drawing = draw(figure.spec)
        assert for_file(drawing).startswith("<svg") and "var(--" not in for_file(drawing)
        assert "var(--ink)" in for_page(drawing, figure.name)


def test_hostile_names_stay_text(make_everything, write_page):
    directory = make_everything(keys=["age", "guilt"])
    renamings = dict.fromkeys(("gpt-4o", "egalitarian", "age"), HOSTILE)
    for path in directory.glob("*.parquet"):
        pl.read_parquet(path).with_columns(pl.col(pl.String).replace(renamings)).write_parquet(path)
    hostile = {"none": None, HOSTILE: f"{HOSTILE} {{{{7*7}}}}"}
    plan = read_plan(directory / "plan.json") | {"models": [HOSTILE], "interventions": hostile}
    write_plan(directory / "plan.json", plan)
    page = write_page(directory, with_drawings=True)
    assert "<script>document" not in page and "&lt;script&gt;document" in page
    assert "{{7*7}}" in page


def test_nulls_everywhere(make_everything, write_page):
    directory = make_everything(keys=["age", "guilt"])
    for name in ("estimates", "fits", "orders", "yes_shares", "chained", "scores"):
        path = directory / f"{name}.parquet"
        frame = pl.read_parquet(path)
        numbers = [c for c, t in frame.schema.items() if t == pl.Float64 and c != "tost_margin"]
        frame.with_columns(pl.lit(None, pl.Float64).alias(c) for c in numbers).write_parquet(path)
    page = write_page(directory, with_drawings=True)
    assert "no trial was scored in both" in page and 'id="yes-3"' not in page
    assert "NaN" not in page.split("<script>")[0]


def test_numbers_that_are_none_do_not_reach_a_chart(make_everything, write_page):
    directory = make_everything(keys=["age", "guilt"])
    for name, odd in {
        "fits": {"intercept": float("inf")},
        "estimates": {"confidence": 7.0, "se": float("nan")},
    }.items():
        path = directory / f"{name}.parquet"
        pl.read_parquet(path).with_columns(**{c: pl.lit(v) for c, v in odd.items()}).write_parquet(
            path
        )
    page = write_page(directory)
    charts = re.findall(r'<div class="chart".*?</div>', page, re.S)
    assert charts and not any("NaN" in chart or "Infinity" in chart for chart in charts)


def test_a_malformed_table_is_named(make_everything):
    directory = make_everything(keys=["age"])
    pl.DataFrame({"model": ["a"]}).write_parquet(directory / "yes_shares.parquet")
    with pytest.raises(Exception, match=r"yes_shares\.parquet: no column"):
        write_report(directory)


def test_relative_decisions_are_set_against_absolute_ones(all_page):
    text = section(all_page, "relativity-3")
    assert "Chained task: decision" in text and "LLM Relative Decision Test" in text
    assert "Fewer scored / n" in text and "Over all stereotypes and per category" in text
    # SI Table S11, GPT-4: .652; ½ + (.85 − .59 + .93 − .97) / 4 = .555
    assert "0.65 in relative decisions" in text and "0.56 in absolute ones" in text
    assert 'aria-labelledby="relativity-2"' not in all_page


def test_the_published_effect_of_the_system_prompt_stands_beside(all_page):
    text = section(all_page, "interventions-1")  # SI section M
    assert "0.40 without and 0.24 with the prompt, a difference of −0.16" in text
    assert "Published for GPT-4 (2024)" not in section(all_page, "interventions-2")
