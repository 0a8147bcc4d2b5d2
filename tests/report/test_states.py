"""Hidden states on the page: the numbers are the tables', and words stay text."""

import html
import json
import re

import polars as pl
import pytest
from altair.utils.schemapi import debug_mode

from clinometer.directory.results import all_tables
from clinometer.errors import InputError
from clinometer.pieces.drawing.cells import class_of
from clinometer.pieces.prose import first_few
from clinometer_measures.states.report.associations import association_section
from clinometer_measures.states.report.contexts import context_section
from clinometer_measures.states.report.layers import direction_section, layer_section
from clinometer_measures.states.report.part import findings, state_part
from clinometer_measures.states.report.profiles import profile_section
from clinometer_measures.states.report.relations import relation_section
from clinometer_measures.states.report.results import layers, read_states
from clinometer_measures.states.report.tally import tally_section


@pytest.fixture(scope="module", autouse=True)
def trusted():
    """Spare altair the check of our own drawings, as `write_report` does."""
    with debug_mode(False):
        yield


@pytest.fixture(scope="module")
def page(state_results):
    return (state_results / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def two(hidden_states, tmp_path_factory):
    """Two models of seven layers, read in two ways; nothing is drawn."""
    return hidden_states.write(tmp_path_factory.mktemp("two"), ("MiniLM", "Llama"))


@pytest.fixture(scope="module")
def states(two):
    return read_states(two)


@pytest.fixture(scope="module")
def part(two):
    return state_part(two)


@pytest.fixture
def folder(hidden_states, tmp_path):
    return hidden_states.write(tmp_path / "made", ("MiniLM",), layers=3, removed=(0,))


def texts(table):
    return [[cell.text for cell in row] for row in (table.columns, *table.rows)]


def plotted_rows(figure):
    return figure.spec["datasets"]["rows"]


def change(directory, measure, **columns):
    """Change columns in the estimates of a measure."""
    path = directory / "estimates.parquet"
    frame = pl.read_parquet(path)
    is_measure = pl.when(measure=measure)
    changed = (
        is_measure.then(value).otherwise(name).alias(name) for name, value in columns.items()
    )
    frame.with_columns(changed).write_parquet(path)


def keep(directory, *rows, **values):
    """Keep some of the estimates."""
    path = directory / "estimates.parquet"
    pl.read_parquet(path).filter(*rows, **values).write_parquet(path)


#: What is written about hidden states.
TABLE_NAMES = (
    "estimates",
    *(name for name, table in all_tables().items() if table.family == "states"),
)


def finding_text(directory, subject):
    return next(text for what, _, text in findings(read_states(directory)) if what == subject)


def test_states_alone_makes_a_report_of_its_own(page):
    title = html.unescape(re.search("<title>(.*?)</title>", page)[1])
    assert title.startswith("Stereotypes inside the model: <script>alert(1)")
    headings = re.findall(r'<h2 id="([^"]*)"', page)
    assert headings == [
        "brief-1", "measured", "representation-profile", "representation-profile-fine",
        "representation-layers", "representation-directions", "representation-contexts",
        "representation-tests", "representation-relations", "limits", "cite", "reproduce",
    ]  # fmt: skip
    assert all(f'href="#{key}"' in page for key in headings[1:])


def test_words_and_names_stay_text(page):
    assert "<script>alert" not in page and "<i>terms" not in page and "<b>dictionary" not in page
    assert "&lt;i&gt;terms&lt;/i&gt;" in page and "{{7*7}}" in page
    assert "\u202e" not in page and "⟨U+202E⟩" in page
    charts = re.findall(r'<div class="chart".*?</div>', page, re.S)
    assert len(charts) == 12 and all(re.search("<svg.*</svg>", chart, re.S) for chart in charts)


def test_what_was_read_is_stated(page):
    for fact in ("3 layers; width 384; float32; last state after the final norm", "ab" * 32,
                 "generated; contexts.parquet", "single words: nonbinary, agender",
                 "female names 100, male names 100"):  # fmt: skip
        assert fact in html.unescape(page)


def test_only_the_works_that_were_used_are_cited(part, folder):
    cited = " ".join(source.citation for source in part.sources)
    for work in ("2411.16527", "Nicolas", "Caliskan", "Mu, J.", "SI sections J and O"):
        assert work in cited
    assert "May, C." not in cited and "Guo, W." not in cited
    assert not any("Mu, J." in source.citation for source in state_part(folder).sources)


def test_figures_lie_beside_the_report(state_results):
    for suffix in ("svg", "png"):
        figure = state_results / "figures" / f"representation-profile-2.{suffix}"
        assert figure.stat().st_size > 2000
    curves = (state_results / "figures" / "representation-layers-1.svg").read_text(encoding="utf-8")
    assert ">Warmth<" in curves and ">Competence<" in curves  # the legend


def test_the_brief_says_who_stands_higher_and_how_sure_that_is(states):
    by_subject = {(subject, model): text for subject, model, text in findings(states)}
    assert by_subject["Profile of names", "MiniLM"].startswith(
        "Warmth: female names 0.50 standard deviations above male names (95% interval 0.25 to "
        "0.75; p (Holm) .020). No difference is shown for Competence, female names − male names "
        "0.10 [−0.15 to 0.35]. In the permutation test (words shuffled between groups) p is above "
        ".05 for Warmth, female names − male names."
    )


def test_a_negative_difference_is_turned_with_its_interval(folder):
    change(folder, "profile_difference", estimate=-pl.col("estimate"), ci_low=-pl.col("ci_high"),
           ci_high=-pl.col("ci_low"))  # fmt: skip
    text = finding_text(folder, "Profile of names")
    assert text.startswith(
        "Warmth: male names 0.50 standard deviations above female names (95% interval 0.25 to 0.75"
    )


def test_opposite_signs_that_the_mean_hides_are_named(states):
    text = next(text for subject, _, text in findings(states) if subject == "Profile of names")
    assert "(Competence, female names − male names: −1.00 at layer 6, 1.20 at layer 0)" in text


def test_signs_that_turn_with_how_a_model_is_read_are_named(hidden_states, tmp_path):
    directory = hidden_states.write(tmp_path, ("MiniLM",), layers=3)
    assert "Other contexts or removed components change no sign." in finding_text(
        directory, "Profile of names"
    )
    turned = pl.col("estimate") * (1 - 2 * pl.col("removed"))
    change(directory, "profile_difference", estimate=turned)
    text = finding_text(directory, "Profile of names")
    assert "Warmth: generated contexts, 1 component removed" in text


def test_the_brief_counts_tests_and_says_that_they_are_adjusted(states):
    last = states.tables["associations"].filter(
        model="MiniLM", study="bai2025", layer="6", removed=0
    )
    sure, against = last.filter(pl.col("p_holm") < 0.05), last.filter(pl.col("estimate") < 0)
    text = next(text for subject, _, text in findings(states) if subject.endswith("bai2025"))
    assert text.startswith(f"At the last layer (6): {sure.height} of 21 significant (p (Holm)")
    assert "(p (Holm) below .05)" in text and f", {against.height} with the opposite sign." in text


def test_the_brief_says_where_answers_and_states_agree_most(states):
    text = next(
        text for subject, _, text in findings(states) if subject == "Answers and hidden states"
    )
    assert "strongest at layer 3 (r 0.70 [0.50 to 0.90]; p (Holm) .010; missing left out)" in text
    assert "at the last layer, 6, r is 0.34" in text and "missing as zero 0.60" in text


def test_accuracy_is_set_against_the_majority(states, folder):
    text = next(
        text for subject, _, text in findings(states) if subject == "Accuracy of the directions"
    )
    assert "0.672 cut at zero (better than the majority baseline)" in text
    change(folder, "direction_accuracy", neutral=pl.lit(0.7))
    assert "(not distinguishable from the majority baseline)" in finding_text(
        folder, "Accuracy of the directions"
    )


def test_nothing_is_called_free_of_bias(states, part):
    text = " ".join(text for *_, text in findings(states)) + " ".join(part.limits)
    assert "unbiased" not in text and "no bias" not in text
    assert "not behaviour" in text and "final norm" in text and "opposite signs" in text


def test_many_findings_stand_in_a_table(part, folder):
    assert (part.findings, len(part.table.rows)) == ((), 11)
    assert state_part(folder).table is None


def test_a_profile_shows_the_mean_over_layers_with_intervals(states):
    figure = profile_section(states, "broad").figures[0]
    (row,) = [
        row
        for row in plotted_rows(figure)
        if (row["dimension"], row["panel"], row.get("group"))
        == ("Warmth", "nothing removed", "female names")
    ]
    assert (row["mean"], row["low"], row["high"]) == pytest.approx((0.25, 0.1, 0.4))
    assert "mean over layers" in figure.caption


def test_a_star_stands_where_groups_differ_after_holm(states):
    figure = profile_section(states, "broad").figures[0]
    stars = {(r["panel"], r["dimension"]) for r in plotted_rows(figure) if r["kind"] == "star"}
    significant = states.tables["differences"].filter(
        pl.col("p_holm") < 0.05, model="MiniLM", words="names", layer="mean", space="broad"
    )
    removals = {0: "nothing removed", 1: "1 component removed"}
    assert stars == {
        (removals[k], name) for k, name in significant.select("removed", "dimension").rows()
    }
    assert "nothing removed: groups differ (★) on Warmth;" in figure.summary


def test_words_on_their_own_have_marks_and_an_interval_over_contexts(states, hidden_states):
    section = profile_section(states, "fine")
    points = [row for row in plotted_rows(section.figures[1]) if row["kind"] == "individual"]
    assert {row["individual"] for row in points} == set(hidden_states.INDIVIDUALS)
    assert {row["low"] is None for row in points if row["individual"] == "nonbinary"} == {True}
    head, *body = texts(dict(section.tables)["Table of single words: MiniLM, terms"])
    assert head[:3] == ["Word", "Dimension", "Removed"]
    assert len(body) == 3 * 7 * 2 and body[0][head.index("95% interval")] == "n/a"


def test_a_table_of_differences_has_every_p(states):
    table = profile_section(states, "broad").tables[0][1]
    head, first, *_ = texts(table)
    cells = dict(zip(head, first, strict=True))
    assert (cells["Difference"], cells["p (Holm)"], cells["p (shuffled)"]) == (
        "0.50",
        ".020",
        ".060",
    )
    assert cells["Words"] == "100, 100"


def test_layer_curves_hold_each_layer_and_its_interval(states):
    figure = layer_section(states).figures[0]
    warm = [r for r in plotted_rows(figure)
            if r["series"] == "Warmth" and r["panel"].endswith("nothing removed")]  # fmt: skip
    assert [row["layer"] for row in warm] == list("0123456")
    assert [row["mean"] for row in warm] == pytest.approx([place / 6 for place in range(7)])
    assert all(row["high"] - row["low"] == pytest.approx(0.5) for row in warm)
    assert [row["sure"] for row in warm] == [False, False, *[True] * 5]


def test_layers_are_sorted_as_numbers():
    frame = pl.DataFrame({"layer": ["10", "mean", "2", None, "odd", "0"]})
    assert layers(frame) == ["0", "2", "10", "odd"]


def test_one_layer_makes_no_curve_and_is_said(hidden_states, tmp_path):
    states = read_states(hidden_states.write(tmp_path, ("api",), layers=1, removed=(0,)))
    for name in ("profiles", "differences", "terms", "directions"):
        states.tables[name] = states.tables[name].filter(pl.col("layer") != "mean")
    assert layer_section(states) is None and direction_section(states).figures == ()
    assert "layer 0" in profile_section(states, "broad").figures[0].caption
    assert len(association_section(states).figures) == 2


def test_accuracy_curves_have_the_majority_beside_them(states):
    section = direction_section(states)
    rows = plotted_rows(section.figures[0])
    assert {row["reference"] for row in rows} == {0.6}
    assert {row["series"] for row in rows} == {"cut at zero", "cut at the terms’ mean"}
    head, first, *_ = texts(section.tables[0][1])
    cells = dict(zip(head, first, strict=True))
    assert (cells["Accuracy"], cells["Majority"], cells["Terms"]) == ("0.672", "0.600", "2563")


def test_few_tests_are_curves_and_many_are_a_map(states):
    figures = association_section(states).figures[:3]
    assert "concat" in figures[0].spec and len(figures[0].spec["concat"]) == 3
    assert all(len(plotted_rows(figure)) == 21 * 7 for figure in figures[1:])
    cell = plotted_rows(figures[1])[0]
    first_test = states.tables["associations"].filter(study="bai2025").row(0, named=True)
    assert cell["shown"] == f"{first_test['estimate']:.2f}" and cell["step"] == "1.0 and above"


def test_the_largest_effect_is_found_and_called_no_test(states):
    tables = dict(association_section(states).tables)
    table = tables["Table of largest effects: MiniLM, caliskan2017"]
    head, first, *_ = texts(table)
    effects = states.tables["associations"].filter(model="MiniLM", stereotype="weat6", removed=0)
    best = effects.sort(pl.col("estimate").abs(), descending=True).row(0, named=True)
    cells = dict(zip(head, first, strict=True))
    assert (cells["Layer"], cells["Effect"]) == (best["layer"], f"{best['estimate']:.2f}")
    assert "Selecting a layer is not a test" in table.caption


def test_a_test_of_one_group_at_a_time_has_a_line_for_each(folder):
    for name in ("estimates", "state_tests"):
        path = folder / f"{name}.parquet"
        first_side = pl.read_parquet(path).filter(stereotype="weat6").with_columns(
            measure=pl.lit("mac"), second=pl.lit(None, pl.String)
        )  # fmt: skip
        second_side = first_side.with_columns(first=pl.lit("female names"))
        pl.concat([first_side, second_side]).write_parquet(path)
    section = association_section(read_states(folder))
    assert {row["series"] for row in plotted_rows(section.figures[0])} == {
        "first group alone", "second group alone",
    }  # fmt: skip
    assert texts(section.tables[0][1])[1][1] == "male names with career, not family"


@pytest.mark.parametrize(
    ("value", "expected"),
    [(-9, "below −1.0"), (-0.2, "−0.2 to 0.2"), (0.2, "0.2 to 0.5"), (1, "1.0 and above")],
)
def test_classes_close_below(value, expected):
    assert class_of(value, (-1.0, -0.5, -0.2, 0.2, 0.5, 1.0)) == expected


def test_the_correlation_map_shows_every_layer_and_marks_the_strongest(states):
    figure = relation_section(states).figures[0]
    rows = plotted_rows(figure)
    assert len(rows) == 7 * 4 * 2
    bold = {row["across"]: (row["down"], row["text"]) for row in rows if row["strong"]}
    assert len(bold) == 8
    assert bold["nothing removed, missing left out"] == ("3", "0.70*")
    assert "missing left out: strongest 0.70 (layer 3), last 0.34" in figure.summary


def test_decisions_are_predicted_from_answers_and_from_states(states):
    head, *body = texts(relation_section(states).tables[-1][1])
    places = [head.index(name) for name in ("Predictor", "Layer", "AIC", "Δ AIC")]
    assert [[row[place] for place in places] for row in body] == [
        ["Word association", "", "1000.0", "0.0"],
        ["Hidden states", "6", "1034.0", "34.0"],
        ["Hidden states", "6", "1034.0", "34.0"],
    ]


@pytest.mark.parametrize("measure", ["profile_mean", "profile_difference", "correlation"])
def test_a_measure_that_another_leans_on_may_be_absent(folder, measure):
    keep(folder, pl.col("measure") != measure)
    (folder / "states.json").unlink()
    part = state_part(folder)
    assert len(part.sections) >= 4 and part.setting == () and part.names == ("MiniLM",)


@pytest.mark.parametrize("name", TABLE_NAMES)
def test_a_malformed_table_is_named(folder, name):
    pl.DataFrame({"model": ["MiniLM"]}).write_parquet(folder / f"{name}.parquet")
    with pytest.raises(InputError, match=rf"{name}\.parquet: no column"):
        read_states(folder)


def test_malformed_facts_are_named_and_odd_ones_left_out(folder):
    (folder / "states.json").write_text(json.dumps({"models": [3], "words": "x"}))
    assert state_part(folder).setting == ()
    (folder / "states.json").write_text("[]")
    with pytest.raises(InputError, match=r"states\.json: a JSON object is expected"):
        read_states(folder)


def test_tables_without_any_number_are_no_error(folder):
    for name in TABLE_NAMES:
        path = folder / f"{name}.parquet"
        empty = [pl.lit(None, kind).alias(c) for c, kind in all_tables()[name].schema.items()
                 if kind == pl.Float64()]  # fmt: skip
        pl.read_parquet(path).with_columns(empty).write_parquet(path)
    part = state_part(folder)
    assert part.findings[0].text == "No difference could be measured; see the notes."


def test_states_beside_a_run_and_networks_is_one_more_part(make_results, hidden_states, write_page):
    directory = make_results(keys=["age"])
    hidden_states.write(directory, ("MiniLM",), layers=2, removed=(0,))
    keep(directory, (pl.col("family") != "states") | (pl.col("measure") == "profile_difference"))
    page = write_page(directory)
    assert '<a href="#representation">Hidden states</a>' in page
    assert page.index('id="stereotypes-1"') < page.index('id="representation"')
    assert "Hidden states; Profile of names, MiniLM." in page
    assert '<h3 id="representation-layers" class="section">' in page


def test_states_and_networks_share_a_page(folder, write_page):
    keep(folder, measure="profile_difference")
    pl.DataFrame(
        [{"network": "Humans", "nodes": 9, "edges": 12}],
        schema_overrides={"nodes": pl.Int64, "edges": pl.Int64},
    ).with_columns(
        **{c: pl.lit(None, pl.Float64) for c in ("density", "average_degree", "mean_path_length",
                                                 "clustering")},
        **{c: pl.lit(None, pl.Int64) for c in ("components", "diameter", "path_sources")},
        directed=pl.lit(False),
    ).write_parquet(folder / "networks.parquet")  # fmt: skip
    page = write_page(folder)
    assert page.index('<h2 id="networks"') < page.index('id="representation-layers"')
    assert '<h3 id="network-networks" class="section">' in page


def test_of_many_models_the_first_are_in_the_title(part):
    assert part.headline == "Stereotypes inside the model: MiniLM, Llama"
    assert first_few("abcde") == "a, b, c and 2 more"


def place_profiles(directory, p, low=-0.3, high=0.3):
    """Add placebos to all differences of profiles: `p` by dimension, else .001."""
    path = directory / "estimates.parquet"
    frame = pl.read_parquet(path)
    value = pl.col("dimension").replace_strict(p, default=0.001, return_dtype=pl.Float64)
    added = frame.filter(method="permutation", measure="profile_difference").with_columns(
        method=pl.lit("placebo"), p=value, p_holm=value, placebo_mean=pl.lit(0.0),
        placebo_low=pl.lit(low), placebo_high=pl.lit(high), confidence=pl.lit(0.95),
    )  # fmt: skip
    pl.concat([frame, added]).write_parquet(path)


def test_a_difference_that_its_placebos_reach_is_not_called_one(folder):
    assert "Warmth: female names 0.50 standard" in finding_text(folder, "Profile of names")
    place_profiles(folder, {"Warmth": 0.2})
    text = finding_text(folder, "Profile of names")
    assert "standard deviations above" not in text
    assert "Warmth, female names − male names 0.50 [0.25 to 0.75], placebos −0.30 to 0.30 with p " \
        ".200" in text  # fmt: skip
    figure = profile_section(read_states(folder), "broad").figures[0]
    assert not any(row["kind"] == "star" for row in plotted_rows(figure))


def test_placebos_stand_beside_the_differences(folder):
    place_profiles(folder, {}, low=-0.2, high=0.4)
    states = read_states(folder)
    assert "Warmth: female names 0.50 standard deviations above male names" in finding_text(
        folder, "Profile of names"
    )
    profile = profile_section(states, "broad")
    names, terms = profile.figures
    rows = {
        (row["dimension"], row["group"]): row
        for row in plotted_rows(names)
        if row["kind"] == "group"
    }
    ends = [rows["Warmth", group] for group in ("female names", "male names")]
    assert [(row["placebo_low"], row["placebo_high"]) for row in ends] == [(-0.1, 0.2), (-0.2, 0.1)]
    assert "Grey bar" in names.caption and "Grey bar" not in terms.caption  # three groups
    head, first, *_ = texts(profile.tables[0][1])
    assert first[head.index("Placebos, 95% interval")] == "−0.20 to 0.40"
    assert first[head.index("p (placebo)")] == ".001"
    curve = plotted_rows(layer_section(states).figures[0])
    assert {(row["placebo_low"], row["placebo_high"]) for row in curve} == {(-0.2, 0.4)}


@pytest.mark.parametrize(("p", "mean"), [(0.5, 0.0), (0.001, 1.15)])
def test_an_association_needs_to_be_beyond_its_placebos_too(folder, p, mean):
    path = folder / "estimates.parquet"
    frame = pl.read_parquet(path)
    tested = frame.filter(method="permutation", alternative="two-sided", study="caliskan2017")
    added = tested.with_columns(
        method=pl.lit("placebo"), p=pl.lit(p / 2), p_holm=pl.lit(p), placebo_mean=pl.lit(mean),
        placebo_low=pl.lit(-1.1), placebo_high=pl.lit(1.2), confidence=pl.lit(0.95),
    )  # fmt: skip
    frame = frame.with_columns(
        p_holm=pl.when(alternative="greater").then(0.001).otherwise("p_holm")
    )
    frame.write_parquet(path)
    subject = "Association tests of caliskan2017"
    assert "3 of 3 significant" in finding_text(folder, subject)
    pl.concat([frame, added]).write_parquet(path)
    assert "0 of 3 significant" in finding_text(folder, subject)
    section = association_section(read_states(folder))
    head, first, *_ = texts(section.tables[0][1])
    assert first[head.index("Placebos, 95% interval")] == "−1.10 to 1.20"
    rows = [row for figure in section.figures for row in plotted_rows(figure) if "sure" in row]
    assert rows and not any(row["sure"] for row in rows if row["p"] != "n/a")


def test_the_tally_counts_models_by_side(hidden_states, tmp_path):
    """Of three models the third has the opposite difference in warmth; the second's is unsure."""
    folder = hidden_states.write(tmp_path / "three", ("A", "B", "C"), layers=2, removed=(0,))
    path = folder / "estimates.parquet"
    warmth = (pl.col("measure") == "profile_difference") & (pl.col("dimension") == "Warmth")
    turned, unsure = warmth & (pl.col("model") == "C"), warmth & (pl.col("model") == "B")
    pl.read_parquet(path).with_columns(
        estimate=pl.when(turned).then(-pl.col("estimate")).otherwise("estimate"),
        p_holm=pl.when(unsure).then(0.3).otherwise("p_holm"),
    ).write_parquet(path)
    tally = tally_section(read_states(folder))
    first, *rows = texts(tally.tables[0][1])
    row = dict(zip(first, rows[0], strict=True))
    assert list(row.values())[:3] == ["names", "Warmth", "female names − male names"]
    assert (row["Models"], row["First higher"]) == ("3", "2")
    assert (row["First, p"], row["Second, p"]) == ("2", "1")
    assert (row["First, shown"], row["Second, shown"]) == ("1", "1")
    _, *words = texts(tally.tables[1][1])
    # of the means .25, −.25 and .1, and the words at .25, −.35 and −.95
    assert [row for row in words if row[1] == "Warmth"] == [
        ["nonbinary", "Warmth", "3", "0", "3", "0"],
        ["agender", "Warmth", "3", "3", "0", "0"],
        ["transgender person", "Warmth", "3", "3", "0", "0"],
    ]
    assert ["names", "Morality", "Female Names", "11 of 12"] in texts(tally.tables[2][1])


def test_one_model_has_no_tally(folder):
    assert tally_section(read_states(folder)) is None


def test_kinds_of_contexts_are_lines_of_one_panel(hidden_states, tmp_path):
    folder = hidden_states.write(
        tmp_path / "kinds", ("A",), layers=3, removed=(0,), contexts=("generated", "corpus")
    )
    figure = direction_section(read_states(folder)).figures[0]
    assert {row["series"] for row in plotted_rows(figure)} == {
        "generated contexts",
        "corpus contexts",
    }
    panels = {row["panel"] for row in plotted_rows(figure)}
    assert "Warmth, cut at zero" in panels and len(panels) == 6


def test_histograms_of_contexts_have_a_bar_per_value(hidden_states, tmp_path):
    folder = hidden_states.write(
        tmp_path / "kinds", ("A",), layers=3, removed=(0,), contexts=("generated", "none")
    )
    counts = context_section(read_states(folder))
    bars = [(row["panel"], row["value"], row["n"]) for row in plotted_rows(counts.figures[0])]
    assert bars[:4] == [
        ("Contexts per term, generated contexts", 3, 1),
        ("Contexts per term, generated contexts", 1, 1),
        ("Words per context, generated contexts", 6, 4),
        ("Position of the term (words), generated contexts", 2, 4),
    ]
    assert texts(counts.tables[0][1])[1] == ["generated contexts", "poles", "4", "0", "2.0", "6.0",
                                             "2.0"]  # fmt: skip
