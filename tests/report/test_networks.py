"""Association networks on the page: the numbers are the tables', and names stay text."""

import html
import re
import unicodedata

import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from clinometer.cli.auditing import report_command
from clinometer.directory.results import all_tables
from clinometer.errors import InputError
from clinometer.pieces.prose import display_names
from clinometer.report import write_report
from clinometer.results.records import write_plan
from clinometer_measures.networks.report.differences import difference_section
from clinometer_measures.networks.report.effects import stereotype_section
from clinometer_measures.networks.report.part import findings, network_part
from clinometer_measures.networks.report.results import read_networks
from clinometer_measures.networks.report.valence import valence_section

DETAILS = [name for name, table in all_tables().items() if table.family == "networks"]


@pytest.fixture(scope="module")
def page(network_results):
    return (network_results / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def part(tmp_path_factory, networked):
    """The part of two networks, not drawn."""
    return part_of(networked.write(tmp_path_factory.mktemp("two"), ("Humans", "Haiku")))


@pytest.fixture
def folder(tmp_path, networked):
    return networked.write(tmp_path / "made", ("Humans", "Haiku"))


def part_of(directory):
    """Make the part, which draws nothing."""
    return network_part(directory)


def section(part, key):
    return next(candidate for candidate in part.sections if candidate.key == f"network-{key}")


def texts(table):
    return [[cell.text for cell in row] for row in (table.columns, *table.rows)]


def change(directory, name, **columns):
    path = directory / f"{name}.parquet"
    pl.read_parquet(path).with_columns(**columns).write_parquet(path)


def test_networks_alone_make_a_report_of_their_own(page):
    title = html.unescape(re.search("<title>(.*?)</title>", page)[1])
    assert title.startswith("Implicit bias in association networks: Humans, Haiku, ")
    headings = re.findall(r'<h2 id="([^"]*)"', page)
    assert headings == [
        "brief-1", "measured", "network-networks", "network-stereotypes", "network-valence",
        "network-emotions", "network-chance", "network-differences",
        "network-path-lengths", "network-streams", "network-sensitivity", "limits", "cite",
        "reproduce",
    ]  # fmt: skip
    assert all(f'href="#{key}"' in page for key in headings[1:])


def test_source_files_and_setting_are_stated(page):
    assert "@misc{abramski2025network}" in page and "Abramski, Rossetti &amp; Stella" in page
    assert "ab" * 32 in page and "haiku.csv" in page
    assert "twice the diameter of each network" in page and "Here it is atheist." in page


def test_names_and_words_stay_text(page):
    assert "<script>alert" not in page and "<i>gentle" not in page and "<b>study" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page and "{{7*7}}" in page
    assert "\u202e" not in page and "⟨U+202E⟩" in page
    charts = re.findall(r'<div class="chart".*?</div>', page, re.S)
    assert len(charts) >= 11 and all(re.search("<svg.*</svg>", chart, re.S) for chart in charts)


def test_every_file_of_the_directory_is_named_and_figures_lie_beside(network_results, page):
    for file in network_results.glob("*.parquet"):
        assert f"<li><code>{file.name}</code>: {all_tables()[file.stem].meaning}</li>" in page
    assert not (network_results / "tables").exists()
    for suffix in ("svg", "png"):
        assert (
            network_results / "figures" / f"network-activations-2.{suffix}"
        ).stat().st_size > 2000


def test_the_brief_has_effects_with_intervals_and_what_speaks_against_them(part):
    by_subject = {finding.subject: finding.text for finding in part.findings}
    assert by_subject["Gender, Haiku"] == (
        "Female targets: 0.67 towards female primes (95% interval 0.47 to 0.77; p (primes swapped) "
        ".031): stereotype-consistent. Male targets: 0.41 towards male primes (95% interval 0.21 "
        "to 0.51; p (primes swapped) .094): not shown, p is above .05. Not shown to be beyond what "
        "rewired networks give: male. Stereotype-consistent paths: +0.35 hops, inconsistent − "
        "consistent (p .200): not shown to be beyond arbitrary primes and targets."
    )
    assert "trust 0.30" in by_subject["Political party, Haiku"]
    assert "tests disagree" in by_subject["Religion, Haiku"]


def test_an_interval_that_holds_zero_is_named(tmp_path, networked):
    directory = networked.write(tmp_path / "one", ("a", "b", "c"))
    by_subject = {(who, name): text for who, name, text in findings(read_networks(directory))}
    assert ".031): not shown, the interval includes 0." in by_subject["Gender", "c"]


def test_many_findings_stand_in_a_table(part, tmp_path, networked):
    assert part.table is None
    many = part_of(networked.write(tmp_path / "many", ("a", "b", "c")))
    assert (many.findings, len(many.table.rows)) == ((), 9)


def test_an_effect_and_its_interval_are_turned_the_same_way(page, part, chart_rows):
    (row,) = [
        row
        for row in chart_rows(page, "network-stereotypes")
        if row["network"] == "Haiku" and row["panel"] == "male targets"
    ]
    assert (row["mean"], row["low"], row["high"]) == pytest.approx((0.412, 0.212, 0.512))
    head, *_, last = texts(section(part, "stereotypes").tables[0][1])
    cells = dict(zip(head, last, strict=True))
    assert (cells["female − male"], cells["Turned"]) == ("−0.41", "0.41")
    assert (cells["95% interval"], cells["p (primes swapped)"]) == ("0.21 to 0.51", ".094")


def test_dependence_and_the_least_p_are_said(part):
    text = " ".join(section(part, "stereotypes").text)
    assert "125 pairs of a set share 25 targets and 5 pairs of primes" in text
    assert "1/32 = .031" in text


def test_missing_words_and_notes_are_listed(part):
    note = section(part, "stereotypes").notes[1]
    assert note[0] == "Gender, male targets, Humans: a note; not in the network: athiest."


def test_the_heat_map_shows_each_activation_in_its_class(page, network_results, chart_rows):
    cells = chart_rows(page, "network-activations-1")
    table = pl.read_parquet(network_results / "network_activations.parquet").filter(
        network="Humans"
    )
    assert [cell["value"] for cell in cells] == table["normalised"].to_list()
    for cell in cells:
        low, high = map(float, cell["step"].split(" to "))
        assert low <= cell["value"] <= high + 1e-9
    assert {cell["category"] for cell in cells} == {"female primes", "male primes"}


def test_the_heat_map_says_which_category_activates_more(part, networked):
    male_rows = networked.activations(("Humans", "Haiku")).filter(network="Haiku", targets="male")
    mean = male_rows.filter(group="female")["normalised"].mean()
    figure = section(part, "stereotypes").figures[2]
    assert "Gender, Haiku" in figure.caption
    assert f"Targets male: activated {mean:.3f} by female primes" in figure.summary


def test_the_joint_test_is_given_with_its_size(part):
    valence = section(part, "valence")
    head, humans, haiku = texts(valence.tables[0][1])
    assert dict(zip(head, haiku, strict=True)) == {
        "Identity": "Religion", "Network": "Haiku", "√(χ² / n)": "0.200", "χ²": "40.0", "df": "2",
        "p (published)": ".200", "p (robust)": ".001",
        "Rated": "1,000 / 15,596",
    }  # fmt: skip
    assert humans[2] == "0.211"
    assert "here 900 to 1,000" in " ".join(valence.text)


def test_emotions_are_in_the_order_of_plutchik(page, part, chart_rows):
    assert [row["label"] for row in chart_rows(page, "network-emotions")[::3]] == [
        "anger",
        "joy",
        "trust",
    ]
    emotions = section(part, "emotions")
    summary = (
        "activated more by democrat: trust 0.30; activated more by republican: anger −0.25; no "
        "difference shown: joy"
    )
    assert summary in emotions.figures[0].summary
    assert "divided by the L1 norm" in " ".join(emotions.text) and emotions.notes[1] == ()


def test_emotions_under_the_other_norm_are_drawn(page, chart_rows):
    bars = chart_rows(page, "network-emotions-norm")
    means = {(row["label"], row["panel"]): row["mean"] for row in bars}
    assert means["trust", "Haiku"] == pytest.approx(0.15)
    assert {row["low"] for row in bars} == {None}
    assert "under the L2 norm" in page and "figure 13" in page


def test_differences_are_turned_with_their_effects(part):
    tables = section(part, "differences").tables
    head, female, male = texts(tables[0][1])
    assert [dict(zip(head, row, strict=True))["Difference"] for row in (female, male)] == [
        "0.30",
        "−0.30",
    ]
    assert male[head.index("95% interval")] == "−0.60 to −0.10"
    assert texts(tables[1][1])[1][head.index("Difference")] == "0.30"


def test_of_many_networks_the_pairs_with_the_first_are_drawn(tmp_path, networked):
    directory = networked.write(tmp_path / "many", ("a", "b", "c", "d", "e"))
    figure = difference_section(read_networks(directory)).figures[0]
    assert {row["network"] for row in figure.spec["datasets"]["rows"]} == {
        f"a − {network}" for network in "bcde"
    }
    assert "Only pairs with a are drawn." in figure.caption


def test_what_a_setting_changes_is_marked_and_said(part):
    sensitivity = section(part, "sensitivity")
    head, *body = texts(sensitivity.tables[0][1])
    assert head == ["Setting", "Humans: female", "Haiku: female"]
    assert body == [
        ["Default", "0.69", "0.67"],
        ["Time steps × 4", "−0.06†°", "−0.06†°"],
        ["No norm", "0.10°", "0.10°"],
    ]
    assert sensitivity.text[1] == (
        "Gender: 4 effects under a changed setting. Sign changed: 2 significant by default "
        "(Humans, female: time steps × 4; Haiku, female: time steps × 4), 0 others. Same sign, no "
        "longer significant: 2 (Humans, female: no norm; Haiku, female: no norm)."
    )


def test_what_rewired_networks_give_stands_beside_the_effects(part):
    chance = section(part, "chance")
    assert "99 such networks were made of each" in chance.text[0] and "1/100" in chance.text[0]
    assert "here they are 48% (stereotypes), 0% (valence), 66% (emotions)." in chance.text[1]
    assert [figure.name for figure in chance.figures] == [f"network-chance-{n}" for n in (1, 2, 3)]
    assert (
        "Haiku: beyond chance: female 0.60; not shown to be beyond chance: male 0.40."
        in chance.figures[0].summary
    )
    bars = chance.figures[0].spec["datasets"]["rows"]
    male = next(row for row in bars if row["label"] == "male")
    assert (male["mean"], male["low"], male["high"]) == (0.4, -0.3, 0.5)  # turned
    head, *body = texts(chance.tables[1][1])
    assert [row[head.index("Targets")] for row in body[-2:]] == ["all primes equal"] * 2
    assert "Turned" not in head


def test_the_brief_says_what_chance_would_give_as_well(part):
    by_subject = {finding.subject: finding.text for finding in part.findings}
    assert "beyond what rewired networks give: male. Stereo" in by_subject["Gender, Haiku"]
    assert by_subject["Political party, Haiku"].endswith("rewired networks give (smallest p .500).")
    assert by_subject["Religion, Haiku"].endswith(
        " Beyond what rewired networks give (largest p .020)."
    )


def test_paths_of_a_sample_say_so(part):
    head, humans, haiku = texts(section(part, "networks").tables[0][1])
    place = head.index("Mean path length")
    assert (humans[place], haiku[place]) == ("4.98", "4.98 (from 500 nodes)")
    assert haiku[head.index("Diameter")] == "at least 11"


def test_the_priming_check_says_whether_signs_are_as_expected(part):
    head, humans, haiku = texts(section(part, "networks").tables[2][1])
    place = head.index("As expected")
    assert (humans[place], haiku[place]) == ("yes", "no")


def test_published_values_stand_beside_those_of_their_study(part, folder):
    summary, table = section(part, "stereotypes").tables[1]
    assert summary == "Table of published effects"
    assert ["male", "Haiku", "−0.41", "0.41", "< .001"] in texts(table)
    for name in ("estimates", "network_activations", "network_paths", "network_absences"):
        change(folder, name, study=pl.lit("mine"))
    (folder / "networks.json").unlink()
    assert len(stereotype_section(read_networks(folder)).tables) == 1


def test_lengths_of_paths_stand_with_their_placebos_and_the_claim(page, part, chart_rows):
    lengths = section(part, "path-lengths")
    ((_, table),) = lengths.tables
    first, *rows = texts(table)
    assert [row[:2] for row in rows] == [
        [targets, network]
        for targets in ("both sets", "female targets", "male targets")
        for network in ("Humans", "Haiku")
    ]
    cells = dict(zip(first, rows[0], strict=True))
    assert (cells["Consistent"], cells["Inconsistent"]) == ("2.00", "3.00")
    assert (cells["Difference"], cells["p (primes swapped)"]) == ("0.35", ".250")
    assert (cells["Arbitrary primes"], cells["Pairs"]) == ("0.02 [−0.30 to 0.30]", "12")
    bars = chart_rows(page, "network-path-lengths")
    assert len(bars) == 9 and {row["placebo_low"] for row in bars} == {-0.3}
    by_subject = {finding.subject: finding.text for finding in part.findings}
    assert (
        "+0.35 hops, inconsistent − consistent (p .010): shorter than"
        in by_subject["Gender, Humans"]
    )
    assert "(p .200): not shown to be beyond" in by_subject["Gender, Haiku"]


def test_streams_are_drawn_and_counted(page, part):
    assert page.count('id="figure-network-stream-') == 3
    assert texts(section(part, "streams").tables[0][1])[2] == [
        "feminine", "kind", "Haiku", "2", "1", "1", "0", "1", "0", "0",
    ]  # fmt: skip


@pytest.mark.parametrize("name", DETAILS)
def test_a_table_may_be_absent(folder, name):
    (folder / f"{name}.parquet").unlink()
    assert len(part_of(folder).sections) >= 5


@pytest.mark.parametrize("absent", ["effects", "coefficients", "differences", "rewired",
                                    "sensitivity", "priming"])  # fmt: skip
def test_estimates_may_be_absent(tmp_path, networked, monkeypatch, absent):
    monkeypatch.delitem(networked.MAKERS, absent)
    assert len(part_of(networked.write(tmp_path / "less", ("Humans", "Haiku"))).sections) >= 6


def test_one_network_is_enough(tmp_path, networked):
    part = part_of(networked.write(tmp_path / "one", ("Haiku",)))
    assert "network-differences" not in {candidate.key for candidate in part.sections}
    assert [cell.text for cell in part.sections[-1].tables[0][1].columns] == ["Setting", "female"]


def test_a_network_without_any_effect_is_no_error(folder):
    change(folder, "estimates", **dict.fromkeys(("estimate", "p", "ci_low"), None))
    rows = findings(read_networks(folder))
    assert rows[0][2].startswith("Female targets: no effect could be measured")


@pytest.mark.parametrize("name", ["estimates", *DETAILS])
def test_a_malformed_table_is_named(folder, name):
    pl.DataFrame({"network": ["Haiku"]}).write_parquet(folder / f"{name}.parquet")
    with pytest.raises(InputError, match=rf"{name}\.parquet: no column"):
        read_networks(folder)


def test_what_is_no_table_is_named(folder):
    (folder / "estimates.parquet").write_text("no parquet")
    with pytest.raises(InputError, match=r"estimates\.parquet: not a parquet table"):
        write_report(folder)


def test_malformed_facts_are_named(folder):
    (folder / "networks.json").write_text("[]")
    with pytest.raises(InputError, match=r"networks\.json: a JSON object is expected"):
        write_report(folder)


def test_streams_that_do_not_fit_are_named(folder):
    change(folder, "network_stream_nodes", paths=pl.lit("many"))
    with pytest.raises(InputError, match="paths 'many'; a whole number"):
        read_networks(folder)
    change(folder, "network_stream_nodes", paths=pl.lit("1"), word=pl.lit("else"))
    with pytest.raises(InputError, match="do not fit together"):
        part_of(folder)


def test_neither_a_run_nor_networks_fails_as_before(tmp_path):
    with pytest.raises(InputError, match=r"plan\.json: not found"):
        write_report(tmp_path)


def test_networks_beside_a_run_are_one_more_part(make_results, networked, write_page):
    directory = make_results(keys=["age"])
    networked.write(directory, ("Haiku",))
    page = write_page(directory)
    assert '<a href="#networks">Association networks</a>' in page
    assert (
        page.index('id="stereotypes-1"') < page.index('id="networks"') < page.index('id="limits"')
    )
    assert "Association networks; Gender, Haiku." in page
    assert '<h3 id="network-valence" class="section">Valence</h3>' in page
    names = re.findall(r'<figure id="([^"]*)"', page)
    assert len(names) == len(set(names)) and "figure-network-emotions" in names


def test_a_run_without_estimates_is_no_report_of_networks(folder):
    write_plan(folder / "plan.json", {})
    (folder / "estimates.parquet").unlink()
    with pytest.raises(InputError, match=r"estimates\.parquet: not found"):
        write_report(folder)


def test_the_command_scores_nothing_where_there_are_networks_only(folder, monkeypatch):
    monkeypatch.setattr("clinometer.report.write_report", lambda directory: directory)
    done = CliRunner().invoke(report_command, [str(folder)])
    assert (done.exit_code, done.output) == (0, f"report: {folder}\n")


@given(st.lists(st.text(max_size=80), unique=True, max_size=8))
def test_names_are_told_apart_and_can_be_read(names):
    displayed = display_names(names, "unnamed network")
    assert len(set(displayed.values())) == len(names)
    assert all(0 < len(name) <= 60 for name in displayed.values())
    kinds = {unicodedata.category(character) for name in displayed.values() for character in name}
    assert not kinds & {"Cc", "Cs", "Zl", "Zp"}


def test_long_names_are_short_in_drawings(tmp_path, networked):
    networks = read_networks(
        networked.write(
            tmp_path / "long", (networked.LONG + "one", networked.LONG + "two", "Haiku")
        )
    )
    marks = list(networks.marks.values())
    assert len(set(marks)) == 3 and max(map(len, marks)) <= 30 and marks[2] == "Haiku"


def place(directory, method, source=("permutation", "gender"), **columns):
    """Add placebos to estimates of Haiku's network: columns for female, for male.

    `source`: method and identity of the estimates.
    """
    path = directory / "estimates.parquet"
    frame = pl.read_parquet(path)
    rows = frame.filter(method=source[0], subject="Haiku", identity=source[1])
    rows = rows.filter(pl.col("measure") != "path_difference")
    n_rows = rows.height
    columns = {"n_resamples": [999] * n_rows, "confidence": [0.95] * n_rows, **columns}
    series = {name: pl.Series(values, dtype=frame.schema[name]) for name, values in columns.items()}
    added = rows.with_columns(method=pl.lit(method), alternative=pl.lit("two-sided"), **series)
    pl.concat([frame, added]).write_parquet(path)


@pytest.fixture
def placed(folder):
    """Female targets stand beyond both placebos, male targets not beyond arbitrary primes."""
    place(folder, "placebo", p=(0.01, 0.3), p_holm=(0.02, 0.3), placebo_mean=(0.1, 0.2),
          placebo_low=(-0.4, -0.45), placebo_high=(0.5, 0.35))  # fmt: skip
    place(folder, "placebo_targets", p=(0.001, 0.001), p_holm=(0.002, 0.002),
          placebo_mean=(0.3, 0.31), placebo_low=(0.1, 0.11), placebo_high=(0.45, 0.5))  # fmt: skip
    return folder


def test_the_brief_claims_only_what_both_placebos_leave(placed):
    by_subject = {(who, name): text for who, name, text in findings(read_networks(placed))}
    assert by_subject["Gender", "Haiku"].startswith(
        "Female targets: 0.67 towards female primes (95% interval 0.47 to 0.77; arbitrary primes "
        "0.10 [−0.40 to 0.50], p (Holm) .020; arbitrary targets 0.30 [0.10 to 0.45], p (Holm) "
        ".002): stereotype-consistent. Male targets: 0.41 towards male primes (95% interval 0.21 "
        "to 0.51; arbitrary primes −0.20 [−0.35 to 0.45], p (Holm) .300; arbitrary targets −0.31 "
        "[−0.50 to −0.11], p (Holm) .002): not shown to be beyond arbitrary primes."
    )
    assert "p (primes swapped)" in by_subject["Gender", "Humans"]  # it has no placebos


def test_an_effect_short_of_its_placebos_is_against_the_stereotype(folder):
    for method in ("placebo", "placebo_targets"):
        place(folder, method, p=(0.01, 0.01), p_holm=(0.01, 0.01), placebo_mean=(0.8, 0.2),
              placebo_low=(0.75, 0.1), placebo_high=(0.9, 0.3))  # fmt: skip
    by_subject = {(who, name): text for who, name, text in findings(read_networks(folder))}
    female, male = by_subject["Gender", "Haiku"].split("Male targets")
    assert "against the stereotype" in female and "stereotype-consistent" in male


def test_placebos_stand_beside_the_effects(placed):
    stereotypes = stereotype_section(read_networks(placed))
    assert any("999 times the primes were replaced" in text for text in stereotypes.text)
    bars = stereotypes.figures[0].spec["datasets"]["rows"]
    ends = {(row["label"], row["panel"]): (row["placebo_low"], row["placebo_high"])
            for row in bars}  # fmt: skip
    assert ends["Haiku", "male targets"] == (-0.35, 0.45)  # turned
    assert ends["Humans", "male targets"] == (None, None)
    head, *body = texts(stereotypes.tables[0][1])
    haiku = next(row for row in body if row[:2] == ["female", "Haiku"])
    assert haiku[head.index("Arbitrary primes")] == "0.10 [−0.40 to 0.50]"
    assert haiku[head.index("p (placebo targets)")] == ".001"
    assert "Grey bar" in stereotypes.figures[0].caption


@pytest.mark.parametrize(
    ("p", "phrase"),
    [
        (0.03, "The primes differ in valence by more than arbitrary primes do"),
        (0.6, "The primes are not shown to differ in valence by more than arbitrary primes do"),
    ],
)
def test_primes_differ_in_valence_if_they_do_beyond_arbitrary_primes(folder, p, phrase):
    place(folder, "placebo", ("published", "religion"), p=(0.3, 0.01, 0.5, p), se=[None] * 4,
          p_holm=(0.6, 0.03, 0.6, None), placebo_mean=(0, 0, 0, 0.1), statistic=[None] * 4,
          placebo_low=(-1, -1, -1, 0.05), placebo_high=(1, 1, 1, 0.15))  # fmt: skip
    networks = read_networks(folder)
    text = next(t for who, name, t in findings(networks) if (who, name) == ("Religion", "Haiku"))
    assert text.startswith(
        f"{phrase} (√(χ² / n) 0.20; arbitrary primes 0.10 [0.05 to 0.15], p {p:.3f}; equal slopes: "
        "p .200 as published, .001 robust).".replace("p 0.", "p .")
    )
    assert ("Most positive: jewish" in text) == (p < 0.05)
    assert "Slopes beyond arbitrary primes: atheist." in text
    valence = valence_section(networks)
    assert any("replaced 999 times" in text for text in valence.text)
    for _, table in valence.tables:
        head, *body = texts(table)
        haiku = next(row for row in body if "Haiku" in row)
        assert haiku[head.index("p (placebo primes)")] in (".300", f"{p:.3f}".lstrip("0"))
    bars = valence.figures[1].spec["datasets"]["rows"]
    assert [row["placebo_high"] for row in bars] == [None, 0.15]
    assert all("Grey bar" in figure.caption for figure in valence.figures)


def test_without_placebos_none_are_spoken_of(folder):
    stereotypes = stereotype_section(read_networks(folder))
    head, *_ = texts(stereotypes.tables[0][1])
    assert "Arbitrary primes" not in head and "Grey bar" not in stereotypes.figures[0].caption
    assert not any("placebo" in text for text in stereotypes.text)
