"""The page as text: what stands in it, and what must not."""

import re
from html.parser import HTMLParser

import polars as pl
import pytest
from click.testing import CliRunner

from clinometer.cli.auditing import report_command
from clinometer.errors import InputError
from clinometer.report import write_report
from clinometer.results.records import write_plan


class Outline(HTMLParser):
    """Elements with their attributes, and the text of each table caption."""

    def __init__(self):
        super().__init__()
        self.elements = []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture(scope="session")
def outline(page):
    parser = Outline()
    parser.feed(page)
    return parser


def test_nothing_is_loaded_from_elsewhere(outline):
    assert not any("src" in a or "xlink:href" in a for _, a in outline.elements)
    assert not outline.all("link") and not outline.all("iframe") and not outline.all("base")
    assert all(a["href"].startswith("#") for _, a in outline.elements if "href" in a)


def test_styles_import_nothing(page):
    style = page[page.index("<style>") : page.index("</style>")]
    assert "@import" not in style and "url(" not in style


def test_policy_allows_only_the_script_by_hash(outline):
    (policy,) = [a["content"] for a in outline.all("meta") if "http-equiv" in a]
    scripts = policy.split("script-src ")[1].split(";")[0].split()
    assert len(scripts) == 1 and scripts[0].startswith("'sha256-")
    assert policy.startswith("default-src 'none'") and "unsafe-eval" not in policy


def test_the_page_has_only_its_own_script(outline):
    assert [a.get("type", "code") for a in outline.all("script")] == ["code"]


def test_answers_stay_text(page):
    assert "&lt;script&gt;document.title=&#39;pwned&#39;" in page
    assert "<script>document.title" not in page and "<img src=x" not in page
    assert "{{7*7}}" in page


def test_no_answer_is_in_a_chart(page):
    charts = re.findall(r'<div class="chart".*?</div>', page, re.S)
    assert len(charts) >= 6
    assert not any("pwned" in chart or "very long" in chart for chart in charts)
    assert all("<svg" in chart for chart in charts)


def test_invisible_characters_are_shown(page):
    assert "\u202e" not in page and "⟨U+202E⟩" in page
    assert "\x00" not in page and "␀" in page
    assert "👵🏽" in page and "مرحبا" in page


def test_long_answers_are_cut_and_say_so(page):
    assert "The first 1500 characters;" in page


def test_headings_never_skip_a_level(outline):
    levels = [int(tag[1]) for tag, _ in outline.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after - before <= 1 for before, after in zip(levels, levels[1:], strict=False))


def test_every_table_has_a_caption_and_scoped_headers(outline):
    tags = [tag for tag, _ in outline.elements]
    after = [tags[place + 1] for place, tag in enumerate(tags) if tag == "table"]
    assert len(after) >= 5 and set(after) == {"caption"}
    assert {a.get("scope") for a in outline.all("th")} == {"col", "row"}


def test_every_figure_is_described(outline):
    charts = [a for _, a in outline.elements if a.get("class") == "chart"]
    assert len(charts) == len(outline.all("figure")) >= 6
    assert all(a["role"] == "img" and len(a["aria-label"]) > 30 for a in charts)
    assert all(a["alt"] for a in outline.all("img"))


def test_ids_are_unique_and_links_lead_somewhere(outline):
    ids = [a["id"] for _, a in outline.elements if "id" in a]
    assert len(ids) == len(set(ids))
    assert {a["href"][1:] for _, a in outline.elements if "href" in a} <= set(ids)
    assert outline.all("html") == [{"lang": "en"}]


def test_the_answer_stands_first_and_in_words(page):
    brief = page[page.index('id="brief-1"') : page.index("<nav")]
    assert re.search(r"In other prompts \d+ of 21 stereotypes lean", brief)
    assert "mode structured" in brief and "mode free" in brief


def test_every_table_is_written_as_csv_where_that_is_asked(make_results, tmp_path, monkeypatch):
    directory, folder = make_results(keys=["age"]), tmp_path / "csv"
    monkeypatch.setattr("clinometer.audits.tabulating.tabulate", lambda *_: None)
    monkeypatch.setattr("clinometer.report.write_report", lambda _: directory / "report.html")
    done = CliRunner().invoke(report_command, [str(directory), "--csv", str(folder)])
    names = {path.stem for path in directory.glob("*.parquet")}
    assert (done.exit_code, done.exception) == (0, None)
    assert done.output.splitlines()[-1] == f"{len(names)} tables: {folder}"
    assert {path.name for path in folder.iterdir()} == {f"{name}.csv" for name in names}
    words = pl.read_parquet(directory / "words.parquet")
    loaded = pl.read_csv(folder / "words.csv", schema=words.schema)
    assert loaded.equals(words) and "null" in loaded["attribute"].to_list()


def test_figures_are_files_too(results):
    names = {path.name for path in (results / "figures").iterdir()}
    assert {"stereotypes.svg", "stereotypes.png", "words.svg", "published.png"} <= names
    assert "var(--" not in (results / "figures" / "stereotypes.svg").read_text(encoding="utf-8")


def test_modes_are_never_pooled(make_results, write_page):
    directory = make_results(models=["a", "b"], modes=["structured", "free"], keys=["age"])
    names = set(re.findall('<figure id="figure-([^"]*)"', write_page(directory)))
    assert {"stereotypes-structured", "stereotypes-free"} <= names


def test_a_mode_cannot_name_a_file_elsewhere(make_results):
    directory = make_results(models=["a", "b"], modes=["../x", ".././x"], keys=["age"])
    write_report(directory)
    names = {path.name for path in (directory / "figures").iterdir()}
    assert {"stereotypes-1.svg", "stereotypes-2.svg"} <= names


def test_many_models_get_a_table_in_brief(make_results, write_page):
    directory = make_results(models=list("abcde"), keys=["age"])
    page = write_page(directory)
    assert "Number of stereotypes with each verdict" in page


@pytest.mark.parametrize(
    ("gone", "section"),
    [
        (["words", "items"], "words-1"),
        (["compliance"], "compliance-1"),
        (["scores"], "examples"),
        (["responses"], "examples"),
    ],
)
def test_missing_tables_leave_their_section_out(make_results, gone, section, write_page):
    directory = make_results(keys=["age"])
    for name in gone:
        (directory / f"{name}.parquet").unlink()
    page = write_page(directory)
    assert "How to reproduce" in page
    assert f'id="{section}"' not in page


def test_an_almost_empty_plan_will_do(make_results, write_page):
    directory = make_results(keys=["age"])
    write_plan(directory / "plan.json", {"instruments": 3, "stereotypes": [1], "seed": None})
    assert "How to cite" in write_page(directory)


def test_nothing_scored(make_results, write_page):
    directory = make_results(keys=["age", "guilt"])
    path = directory / "estimates.parquet"
    numbers = ["estimate", "se", "ci_low", "ci_high", "p"]
    frame = pl.read_parquet(path).with_columns(
        *[pl.lit(None, pl.Float64).alias(name) for name in numbers],
        n_scored=pl.lit(0, pl.Int64),
        verdict=pl.lit("no verdict: nothing scored"),
    )
    frame.write_parquet(path)
    page = write_page(directory)
    assert "2 without a verdict" in page and "NaN" not in page.split("<script>")[0]


def test_unknown_categories_and_verdicts_are_shown_as_they_are(make_results, write_page):
    directory = make_results(keys=["age", "weight"])
    path = directory / "estimates.parquet"
    frame = pl.read_parquet(path).with_columns(
        category=pl.lit("caste"), study=pl.lit("mine"), verdict=pl.lit("odd <b>")
    )
    frame.write_parquet(path)
    page = write_page(directory)
    assert "odd &lt;b&gt;" in page and "Caste" in page
    assert "Beside the published models" not in page


def test_the_confidence_is_that_of_the_estimates(make_results, write_page):
    directory = make_results(keys=["age"])
    path = directory / "estimates.parquet"
    pl.read_parquet(path).with_columns(confidence=pl.lit(0.9)).write_parquet(path)
    page = write_page(directory)
    assert "90% interval" in page and "95% interval" not in page


def test_scorings_are_never_pooled(make_results, write_page):
    directory = make_results(keys=["age"])
    path = directory / "estimates.parquet"
    frame = pl.read_parquet(path)
    parts = [frame.with_columns(scoring=pl.lit(name)) for name in ("exact", "published")]
    pl.concat(parts).write_parquet(path)
    page = write_page(directory)
    assert "mode structured, exact" in page and "mode structured, published" in page


def test_what_an_interval_rests_on_is_said(page):
    assert "Intervals in other prompts rest on one marginalized word and one default word" in page


def test_controls_stand_apart(make_results, write_page):
    directory = make_results(keys=["age", "guilt"])
    path = directory / "estimates.parquet"
    control = pl.col("stereotype") == "guilt"
    pl.read_parquet(path).with_columns(
        control=pl.when(control).then(pl.lit("positive"))
    ).write_parquet(path)
    page = write_page(directory)
    assert "Controls: stimuli whose result is known beforehand" in page
    assert "of 1 stereotype " in page


@pytest.mark.parametrize(
    ("code", "rest"),
    [("failed", "no verdict: positive control"), ("passed", "equivalent")],
)
def test_a_failed_positive_control_is_named_before_the_verdicts(
    make_results, code, rest, write_page
):
    directory = make_results(keys=["age", "guilt"])
    path, control = directory / "estimates.parquet", pl.col("stereotype") == "guilt"
    pl.read_parquet(path).with_columns(
        study=pl.when(control).then(pl.lit("known")).otherwise("study"),
        control=pl.when(control).then(pl.lit("positive")),
        verdict=pl.when(control).then(pl.lit(code)).otherwise(pl.lit(rest)),
    ).write_parquet(path)
    page = write_page(directory)
    fails = code == "failed"
    assert ("The positive control failed" in page) == fails
    assert ("– no verdict: positive control" in page) == fails
    assert (
        "■ no lean found" in page.split('aria-labelledby="verdicts-1"')[1].split("</section>")[0]
    ) != fails


def test_a_directory_without_a_plan_is_refused_in_one_line(tmp_path):
    with pytest.raises(InputError, match=r"plan\.json: not found"):
        write_report(tmp_path)


def test_a_broken_table_is_named(make_results):
    directory = make_results(keys=["age"])
    (directory / "words.parquet").write_text("not parquet")
    with pytest.raises(InputError, match=r"words\.parquet: not a parquet table"):
        write_report(directory)


def test_the_printed_tables_of_the_wordings_asked_stand_beside(page: str) -> None:
    for table, wording in (("S7", "instruction1"), ("S8", "instruction2"), ("S9", "synonym")):
        assert f"SI Table {table}: {wording}" in page
    assert "SI Table S5" not in page and "SI Table S6: " not in page  # S6 is the table above them
    row = re.search(r"beside this run in the wording “instruction1”.*?Racism(.*?)</tr>", page, re.S)
    assert (
        row is not None and ">1.00<" in row[1] and ">0.65<" in row[1]
    )  # GPT-4, Alpaca: .998, .654
