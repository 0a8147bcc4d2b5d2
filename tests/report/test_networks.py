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
def made(tmp_path, networked):
    return networked.write(tmp_path / "made", ("Humans", "Haiku"))


def part_of(directory):
    """Make the part, which draws nothing."""
    return network_part(directory)


def section(part, key):
    return next(one for one in part.sections if one.key == f"network-{key}")


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
    assert len(charts) >= 11 and all(re.search("<svg.*</svg>", one, re.S) for one in charts)


def test_every_file_of_the_directory_is_named_and_figures_lie_beside(network_results, page):
    for file in network_results.glob("*.parquet"):
        assert f"<li><code>{file.name}</code>: {all_tables()[file.stem].meaning}</li>" in page
    assert not (network_results / "tables").exists()
    for suffix in ("svg", "png"):
        assert (
            network_results / "figures" / f"network-activations-2.{suffix}"
        ).stat().st_size > 2000


def test_the_brief_has_effects_with_intervals_and_what_speaks_against_them(part):
    found = {one.subject: one.text for one in part.findings}
    assert found["Gender, Haiku"] == (
        "Female targets: 0.67 towards female primes (95% interval 0.47 to 0.77; p (primes swapped) "
        ".031): stereotype-consistent. Male targets: 0.41 towards male primes (95% interval 0.21 "
        "to 0.51; p (primes swapped) .094): not shown, p is above .05. Not shown to be beyond what "
        "rewired networks give: male. Stereotype-consistent paths: +0.35 hops, inconsistent − "
        "consistent (p .200): not shown to be beyond arbitrary primes and targets."
    )
    assert "trust 0.30" in found["Political party, Haiku"]
    assert "tests disagree" in found["Religion, Haiku"]


def test_an_interval_that_holds_zero_is_named(tmp_path, networked):
    directory = networked.write(tmp_path / "one", ("a", "b", "c"))
    found = {(who, name): text for who, name, text in findings(read_networks(directory))}
    assert ".031): not shown, the interval includes 0." in found["Gender", "c"]


def test_many_findings_stand_in_a_table(part, tmp_path, networked):
    assert part.table is None
    many = part_of(networked.write(tmp_path / "many", ("a", "b", "c")))
    assert (many.findings, len(many.table.rows)) == ((), 9)


def test_an_effect_and_its_interval_are_turned_the_same_way(page, part, rows_of):
    (row,) = [
        row
        for row in rows_of(page, "network-stereotypes")
        if row["network"] == "Haiku" and row["panel"] == "male targets"
    ]
    assert (row["mean"], row["low"], row["high"]) == pytest.approx((0.412, 0.212, 0.512))
    head, *_, last = texts(section(part, "stereotypes").tables[0][1])
    told = dict(zip(head, last, strict=True))
    assert (told["female − male"], told["Turned"]) == ("−0.41", "0.41")
    assert (told["95% interval"], told["p (primes swapped)"]) == ("0.21 to 0.51", ".094")


def test_dependence_and_the_least_p_are_said(part):
    said = " ".join(section(part, "stereotypes").text)
    assert "125 pairs of a set share 25 targets and 5 pairs of primes" in said
    assert "1/32 = .031" in said


def test_missing_words_and_notes_are_listed(part):
    told = section(part, "stereotypes").notes[1]
    assert told[0] == "Gender, male targets, Humans: a note; not in the network: athiest."


def test_the_heat_map_shows_each_activation_in_its_class(page, network_results, rows_of):
    cells = rows_of(page, "network-activations-1")
    table = pl.read_parquet(network_results / "network_activations.parquet").filter(
        network="Humans"
    )
    assert [cell["value"] for cell in cells] == table["normalised"].to_list()
    for cell in cells:
        low, high = map(float, cell["step"].split(" to "))
        assert low <= cell["value"] <= high + 1e-9
    assert {cell["category"] for cell in cells} == {"female primes", "male primes"}


def test_the_heat_map_says_which_category_activates_more(part, networked):
    mine = networked.activations(("Humans", "Haiku")).filter(network="Haiku", targets="male")
    mean = mine.filter(group="female")["normalised"].mean()
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


def test_emotions_are_in_the_order_of_plutchik(page, part, rows_of):
    assert [row["label"] for row in rows_of(page, "network-emotions")[::3]] == [
        "anger",
        "joy",
        "trust",
    ]
    emotions = section(part, "emotions")
    said = (
        "activated more by democrat: trust 0.30; activated more by republican: anger −0.25; no "
        "difference shown: joy"
    )
    assert said in emotions.figures[0].summary
    assert "divided by the L1 norm" in " ".join(emotions.text) and emotions.notes[1] == ()


def test_emotions_under_the_other_norm_are_drawn(page, rows_of):
    drawn = rows_of(page, "network-emotions-norm")
    mine = {(row["label"], row["panel"]): row["mean"] for row in drawn}
    assert mine["trust", "Haiku"] == pytest.approx(0.15)
    assert {row["low"] for row in drawn} == {None}
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
        f"a − {other}" for other in "bcde"
    }
    assert "Only pairs with a are drawn." in figure.caption


def test_what_a_setting_changes_is_marked_and_said(part):
    found = section(part, "sensitivity")
    head, *body = texts(found.tables[0][1])
    assert head == ["Setting", "Humans: female", "Haiku: female"]
    assert body == [
        ["Default", "0.69", "0.67"],
        ["Time steps × 4", "−0.06†°", "−0.06†°"],
        ["No norm", "0.10°", "0.10°"],
    ]
    assert found.text[1] == (
        "Gender: 4 effects under a changed setting. Sign changed: 2 significant by default "
        "(Humans, female: time steps × 4; Haiku, female: time steps × 4), 0 others. Same sign, no "
        "longer significant: 2 (Humans, female: no norm; Haiku, female: no norm)."
    )


def test_what_rewired_networks_give_stands_beside_the_effects(part):
    found = section(part, "chance")
    assert "99 such networks were made of each" in found.text[0] and "1/100" in found.text[0]
    assert "here they are 48% (stereotypes), 0% (valence), 66% (emotions)." in found.text[1]
    assert [figure.name for figure in found.figures] == [f"network-chance-{n}" for n in (1, 2, 3)]
    assert (
        "Haiku: beyond chance: female 0.60; not shown to be beyond chance: male 0.40."
        in found.figures[0].summary
    )
    drawn = found.figures[0].spec["datasets"]["rows"]
    male = next(row for row in drawn if row["label"] == "male")
    assert (male["mean"], male["low"], male["high"]) == (0.4, -0.3, 0.5)  # turned
    head, *body = texts(found.tables[1][1])
    assert [row[head.index("Targets")] for row in body[-2:]] == ["all primes equal"] * 2
    assert "Turned" not in head


def test_the_brief_says_what_chance_would_give_as_well(part):
    found = {one.subject: one.text for one in part.findings}
    assert "beyond what rewired networks give: male. Stereo" in found["Gender, Haiku"]
    assert found["Political party, Haiku"].endswith("rewired networks give (smallest p .500).")
    assert found["Religion, Haiku"].endswith(" Beyond what rewired networks give (largest p .020).")


def test_paths_of_a_sample_say_so(part):
    head, humans, haiku = texts(section(part, "networks").tables[0][1])
    place = head.index("Mean path length")
    assert (humans[place], haiku[place]) == ("4.98", "4.98 (from 500 nodes)")
    assert haiku[head.index("Diameter")] == "at least 11"


def test_the_priming_check_says_whether_signs_are_as_expected(part):
    head, humans, haiku = texts(section(part, "networks").tables[2][1])
    place = head.index("As expected")
    assert (humans[place], haiku[place]) == ("yes", "no")


def test_published_values_stand_beside_those_of_their_study(part, made):
    summary, table = section(part, "stereotypes").tables[1]
    assert summary == "Table of published effects"
    assert ["male", "Haiku", "−0.41", "0.41", "< .001"] in texts(table)
    for name in ("estimates", "network_activations", "network_paths", "network_absences"):
        change(made, name, study=pl.lit("mine"))
    (made / "networks.json").unlink()
    assert len(stereotype_section(read_networks(made)).tables) == 1


def test_lengths_of_paths_stand_with_their_placebos_and_the_claim(page, part, rows_of):
    lengths = section(part, "path-lengths")
    ((_, table),) = lengths.tables
    first, *rows = texts(table)
    assert [row[:2] for row in rows] == [
        [targets, network]
        for targets in ("both sets", "female targets", "male targets")
        for network in ("Humans", "Haiku")
    ]
    both = dict(zip(first, rows[0], strict=True))
    assert (both["Consistent"], both["Inconsistent"]) == ("2.00", "3.00")
    assert (both["Difference"], both["p (primes swapped)"]) == ("0.35", ".250")
    assert (both["Arbitrary primes"], both["Pairs"]) == ("0.02 [−0.30 to 0.30]", "12")
    drawn = rows_of(page, "network-path-lengths")
    assert len(drawn) == 9 and {row["placebo_low"] for row in drawn} == {-0.3}
    said = {one.subject: one.text for one in part.findings}
    assert "+0.35 hops, inconsistent − consistent (p .010): shorter than" in said["Gender, Humans"]
    assert "(p .200): not shown to be beyond" in said["Gender, Haiku"]


def test_streams_are_drawn_and_counted(page, part):
    assert page.count('id="figure-network-stream-') == 3
    assert texts(section(part, "streams").tables[0][1])[2] == [
        "feminine", "kind", "Haiku", "2", "1", "1", "0", "1", "0", "0",
    ]  # fmt: skip


@pytest.mark.parametrize("name", DETAILS)
def test_a_table_may_be_absent(made, name):
    (made / f"{name}.parquet").unlink()
    assert len(part_of(made).sections) >= 5


@pytest.mark.parametrize("left_out", ["effects", "coefficients", "differences", "rewired",
                                      "sensitivity", "priming"])  # fmt: skip
def test_estimates_may_be_absent(tmp_path, networked, monkeypatch, left_out):
    monkeypatch.delitem(networked.MADE, left_out)
    assert len(part_of(networked.write(tmp_path / "less", ("Humans", "Haiku"))).sections) >= 6


def test_one_network_is_enough(tmp_path, networked):
    part = part_of(networked.write(tmp_path / "one", ("Haiku",)))
    assert "network-differences" not in {one.key for one in part.sections}
    assert [cell.text for cell in part.sections[-1].tables[0][1].columns] == ["Setting", "female"]


def test_a_network_without_any_effect_is_no_error(made):
    change(made, "estimates", **dict.fromkeys(("estimate", "p", "ci_low"), None))
    found = findings(read_networks(made))
    assert found[0][2].startswith("Female targets: no effect could be measured")


@pytest.mark.parametrize("name", ["estimates", *DETAILS])
def test_a_malformed_table_is_named(made, name):
    pl.DataFrame({"network": ["Haiku"]}).write_parquet(made / f"{name}.parquet")
    with pytest.raises(InputError, match=rf"{name}\.parquet: no column"):
        read_networks(made)


def test_what_is_no_table_is_named(made):
    (made / "estimates.parquet").write_text("no parquet")
    with pytest.raises(InputError, match=r"estimates\.parquet: not a parquet table"):
        write_report(made)


def test_malformed_facts_are_named(made):
    (made / "networks.json").write_text("[]")
    with pytest.raises(InputError, match=r"networks\.json: a JSON object is expected"):
        write_report(made)


def test_streams_that_do_not_fit_are_named(made):
    change(made, "network_stream_nodes", paths=pl.lit("many"))
    with pytest.raises(InputError, match="paths 'many'; a whole number"):
        read_networks(made)
    change(made, "network_stream_nodes", paths=pl.lit("1"), word=pl.lit("else"))
    with pytest.raises(InputError, match="do not fit together"):
        part_of(made)


def test_neither_a_run_nor_networks_fails_as_before(tmp_path):
    with pytest.raises(InputError, match=r"plan\.json: not found"):
        write_report(tmp_path)


def test_networks_beside_a_run_are_one_more_part(make_results, networked, page_of):
    directory = make_results(keys=["age"])
    networked.write(directory, ("Haiku",))
    page = page_of(directory)
    assert '<a href="#networks">Association networks</a>' in page
    assert (
        page.index('id="stereotypes-1"') < page.index('id="networks"') < page.index('id="limits"')
    )
    assert "Association networks; Gender, Haiku." in page
    assert '<h3 id="network-valence" class="section">Valence</h3>' in page
    names = re.findall(r'<figure id="([^"]*)"', page)
    assert len(names) == len(set(names)) and "figure-network-emotions" in names


def test_a_run_without_estimates_is_no_report_of_networks(made):
    write_plan(made / "plan.json", {})
    (made / "estimates.parquet").unlink()
    with pytest.raises(InputError, match=r"estimates\.parquet: not found"):
        write_report(made)


def test_the_command_scores_nothing_where_there_are_networks_only(made, monkeypatch):
    monkeypatch.setattr("clinometer.report.write_report", lambda directory: directory)
    done = CliRunner().invoke(report_command, [str(made)])
    assert (done.exit_code, done.output) == (0, f"report: {made}\n")


@given(st.lists(st.text(max_size=80), unique=True, max_size=8))
def test_names_are_told_apart_and_can_be_read(names):
    told = display_names(names, "unnamed network")
    assert len(set(told.values())) == len(names)
    assert all(0 < len(name) <= 60 for name in told.values())
    kinds = {unicodedata.category(character) for name in told.values() for character in name}
    assert not kinds & {"Cc", "Cs", "Zl", "Zp"}


def test_long_names_are_short_in_drawings(tmp_path, networked):
    networks = read_networks(
        networked.write(
            tmp_path / "long", (networked.LONG + "one", networked.LONG + "two", "Haiku")
        )
    )
    marks = list(networks.marks.values())
    assert len(set(marks)) == 3 and max(map(len, marks)) <= 30 and marks[2] == "Haiku"


def place(directory, method, of=("permutation", "gender"), **columns):
    """Add placebos to estimates of Haiku's network: columns for female, for male.

    `of`: method and identity of the estimates.
    """
    path = directory / "estimates.parquet"
    frame = pl.read_parquet(path)
    own = frame.filter(method=of[0], subject="Haiku", identity=of[1])
    own = own.filter(pl.col("measure") != "path_difference")
    each = own.height
    columns = {"n_resamples": [999] * each, "confidence": [0.95] * each, **columns}
    given = {name: pl.Series(values, dtype=frame.schema[name]) for name, values in columns.items()}
    added = own.with_columns(method=pl.lit(method), alternative=pl.lit("two-sided"), **given)
    pl.concat([frame, added]).write_parquet(path)


@pytest.fixture
def placed(made):
    """Female targets stand beyond both placebos, male targets not beyond arbitrary primes."""
    place(made, "placebo", p=(0.01, 0.3), p_holm=(0.02, 0.3), placebo_mean=(0.1, 0.2),
          placebo_low=(-0.4, -0.45), placebo_high=(0.5, 0.35))  # fmt: skip
    place(made, "placebo_targets", p=(0.001, 0.001), p_holm=(0.002, 0.002),
          placebo_mean=(0.3, 0.31), placebo_low=(0.1, 0.11), placebo_high=(0.45, 0.5))  # fmt: skip
    return made


def test_the_brief_claims_only_what_both_placebos_leave(placed):
    found = {(who, name): text for who, name, text in findings(read_networks(placed))}
    assert found["Gender", "Haiku"].startswith(
        "Female targets: 0.67 towards female primes (95% interval 0.47 to 0.77; arbitrary primes "
        "0.10 [−0.40 to 0.50], p (Holm) .020; arbitrary targets 0.30 [0.10 to 0.45], p (Holm) "
        ".002): stereotype-consistent. Male targets: 0.41 towards male primes (95% interval 0.21 "
        "to 0.51; arbitrary primes −0.20 [−0.35 to 0.45], p (Holm) .300; arbitrary targets −0.31 "
        "[−0.50 to −0.11], p (Holm) .002): not shown to be beyond arbitrary primes."
    )
    assert "p (primes swapped)" in found["Gender", "Humans"]  # it has no placebos


def test_an_effect_short_of_its_placebos_is_against_the_stereotype(made):
    for method in ("placebo", "placebo_targets"):
        place(made, method, p=(0.01, 0.01), p_holm=(0.01, 0.01), placebo_mean=(0.8, 0.2),
              placebo_low=(0.75, 0.1), placebo_high=(0.9, 0.3))  # fmt: skip
    found = {(who, name): text for who, name, text in findings(read_networks(made))}
    female, male = found["Gender", "Haiku"].split("Male targets")
    assert "against the stereotype" in female and "stereotype-consistent" in male


def test_placebos_stand_beside_the_effects(placed):
    found = stereotype_section(read_networks(placed))
    assert any("999 times the primes were replaced" in text for text in found.text)
    drawn = found.figures[0].spec["datasets"]["rows"]
    ends = {(row["label"], row["panel"]): (row["placebo_low"], row["placebo_high"])
            for row in drawn}  # fmt: skip
    assert ends["Haiku", "male targets"] == (-0.35, 0.45)  # turned
    assert ends["Humans", "male targets"] == (None, None)
    head, *body = texts(found.tables[0][1])
    haiku = next(row for row in body if row[:2] == ["female", "Haiku"])
    assert haiku[head.index("Arbitrary primes")] == "0.10 [−0.40 to 0.50]"
    assert haiku[head.index("p (placebo targets)")] == ".001"
    assert "Grey bar" in found.figures[0].caption


@pytest.mark.parametrize(
    ("p", "said"),
    [
        (0.03, "The primes differ in valence by more than arbitrary primes do"),
        (0.6, "The primes are not shown to differ in valence by more than arbitrary primes do"),
    ],
)
def test_primes_differ_in_valence_if_they_do_beyond_arbitrary_primes(made, p, said):
    place(made, "placebo", ("published", "religion"), p=(0.3, 0.01, 0.5, p), se=[None] * 4,
          p_holm=(0.6, 0.03, 0.6, None), placebo_mean=(0, 0, 0, 0.1), statistic=[None] * 4,
          placebo_low=(-1, -1, -1, 0.05), placebo_high=(1, 1, 1, 0.15))  # fmt: skip
    networks = read_networks(made)
    text = next(t for who, name, t in findings(networks) if (who, name) == ("Religion", "Haiku"))
    assert text.startswith(
        f"{said} (√(χ² / n) 0.20; arbitrary primes 0.10 [0.05 to 0.15], p {p:.3f}; equal slopes: "
        "p .200 as published, .001 robust).".replace("p 0.", "p .")
    )
    assert ("Most positive: jewish" in text) == (p < 0.05)
    assert "Slopes beyond arbitrary primes: atheist." in text
    found = valence_section(networks)
    assert any("replaced 999 times" in text for text in found.text)
    for _, table in found.tables:
        head, *body = texts(table)
        haiku = next(row for row in body if "Haiku" in row)
        assert haiku[head.index("p (placebo primes)")] in (".300", f"{p:.3f}".lstrip("0"))
    bars = found.figures[1].spec["datasets"]["rows"]
    assert [row["placebo_high"] for row in bars] == [None, 0.15]
    assert all("Grey bar" in figure.caption for figure in found.figures)


def test_without_placebos_none_are_spoken_of(made):
    found = stereotype_section(read_networks(made))
    head, *_ = texts(found.tables[0][1])
    assert "Arbitrary primes" not in head and "Grey bar" not in found.figures[0].caption
    assert not any("placebo" in text for text in found.text)
