"""The page in a real browser: charts are drawn, answers do not run, nothing is fetched."""

import html
import json
import re
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import axe_core_python
import pytest

from waiting import HANGS_S

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync "
    "--disable-background-networking --disable-component-update --enable-logging=stderr "
    "--virtual-time-budget=20000 --dump-dom"
).split()

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason="no Chromium or Chrome on the path"),
]


@pytest.fixture(scope="module")
def run(results):
    return opened(results)


@cache
def opened(directory):
    """Give the DOM after all scripts ran, and the lines of the console."""
    address = (directory / "report.html").as_uri()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        done = subprocess.run(
            [BROWSER, *FLAGS, f"--user-data-dir={profile}", address],
            capture_output=True,
            timeout=HANGS_S,
            check=True,
        )
    log = done.stderr.decode(errors="replace")
    return done.stdout.decode(), [line for line in log.splitlines() if ":CONSOLE" in line]


def test_the_console_is_silent(run):
    assert run[1] == []


def pages_printed(page, folder):
    """Return how many pages of paper a page takes."""
    (folder / "page.html").write_text(page, "utf-8")
    flags = (*FLAGS[:-1], f"--user-data-dir={folder / 'profile'}")
    command = [BROWSER, *flags, f"--print-to-pdf={folder / 'page.pdf'}", str(folder / "page.html")]
    subprocess.run(command, capture_output=True, timeout=HANGS_S, check=True)
    return len(re.findall(rb"/Type /Page\b", (folder / "page.pdf").read_bytes()))


def test_what_is_folded_is_printed(results, tmp_path):
    page = (results / "report.html").read_text("utf-8")
    assert "<details" in page
    gone = re.sub(r"(<details(?: [^>]*)?>)", r"\1<div hidden>", page)
    gone = gone.replace("</details>", "</div></details>")
    unfolded = re.sub(r"<details(?: open)?(?= |>)", "<details open", page)
    printed = pages_printed(page, tmp_path)
    assert printed >= pages_printed(unfolded, tmp_path) > 2 * pages_printed(gone, tmp_path)


def test_every_chart_is_drawn_with_its_marks(run):
    charts = run[0].split('class="chart"')[1:]
    assert len(charts) >= 6
    assert all('class="marks"' in chart.split("</figure>")[0] for chart in charts)
    stereotypes = run[0].split('id="figure-stereotypes"')[1].split("</figure>")[0]
    assert stereotypes.count("mark-symbol") >= 12
    assert len(re.findall(r">(?:Age|Guilt|Arab/Muslim|Buddhism)<", stereotypes)) == 4


@pytest.mark.parametrize(
    ("which", "least", "title"),
    [
        ("content_results", 18, "Implicit bias of"),
        ("five_results", 18, "Implicit bias of"),
        ("network_results", 8, "Implicit bias in association networks"),
        ("state_results", 8, "Stereotypes inside the model"),
    ],
)
def test_every_page_is_drawn_without_a_word_in_the_console(which, least, title, request):
    dom, console = opened(request.getfixturevalue(which))
    assert console == []
    charts = dom.split('class="chart"')[1:]
    assert len(charts) >= least
    assert all('class="marks"' in chart.split("</figure>")[0] for chart in charts)
    assert re.search("<title>(.*?)</title>", dom)[1].startswith(title)


def test_a_name_of_markup_stays_text(network_results, state_results):
    for directory in (network_results, state_results):
        body = opened(directory)[0].split("<body>")[1]
        assert "<script>alert(1)" not in body and "&lt;script&gt;alert(1)" in body
        assert "{{7*7}}" in body


def test_marks_take_their_colours_from_the_scheme(run):
    stereotypes = run[0].split('id="figure-stereotypes"')[1].split("</figure>")[0]
    assert 'fill="var(--race)"' in stereotypes


def test_an_answer_does_not_run(run):
    title = re.search("<title>(.*?)</title>", run[0])
    assert title and html.unescape(title[1]) == "Implicit bias of clinometer/smollm2"


def measured(directory, script, size=(1280, 800), *, unfold=False):
    """Run a script in the page, without its content policy; give what it resolves to."""
    page = (directory / "report.html").read_text(encoding="utf-8")
    page = re.sub("<meta http-equiv[^>]*>", "", page)
    page = page.replace("<details", "<details open") if unfold else page
    statement = f"Promise.resolve((() => {{{script}}})()).then((said) => "
    statement += "{ document.documentElement.dataset.said = JSON.stringify(said); });"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        path = Path(folder) / "page.html"
        path.write_text(page.replace("</body>", f"<script>{statement}</script></body>"), "utf-8")
        flags = [f"--user-data-dir={folder}/profile", f"--window-size={size[0]},{size[1]}"]
        done = subprocess.run(
            [BROWSER, *FLAGS, *flags, path.as_uri()],
            capture_output=True,
            timeout=HANGS_S,
            check=True,
        )
    reply = re.search('data-said="([^"]*)"', done.stdout.decode())
    return json.loads(html.unescape(reply[1]))


#: How the first screen is filled, the page behind it, and what is beside it.
SCREEN = """const end = document.querySelector(".summary").getBoundingClientRect().bottom;
    const root = document.documentElement;
    return [end, root.scrollHeight / innerHeight, root.scrollWidth - root.clientWidth];"""

#: A column after a click on its head, and after another.
SORTED = """const table = [...document.querySelectorAll("table")].find(
      (one) => one.caption.textContent.includes("Verdict per category"));
    const place = [...table.tHead.rows[0].cells].findIndex((one) => one.textContent === "Mean");
    const column = () => [...table.tBodies[0].rows].map((one) => one.cells[place].textContent);
    const button = table.tHead.rows[0].cells[place].querySelector("button");
    button.click(); const up = column(); button.click(); return [up, column()];"""

#: Whether the answers that a search leaves are about guilt, and the number of all.
SEARCHED = """const every = [...document.querySelectorAll(".exchange")];
    const search = document.getElementById("search");
    search.value = "guilt forced"; search.dispatchEvent(new Event("input"));
    const left = every.filter((one) => one.offsetParent !== null || !one.hidden);
    const open = left.filter((one) => !one.closest("details").hidden);
    return [open.map((one) => one.closest("details").textContent.includes("Guilt")),
            every.length];"""


@pytest.fixture(scope="module")
def on_screen(results):
    """What a page says, asked one after the other in one browser."""
    calls = ", ".join(f"(() => {{{script}}})()" for script in (SCREEN, SORTED, SEARCHED))
    replies = measured(results, f"return [{calls}];")
    return dict(zip(("screen", "sorted", "searched"), replies, strict=True))


@pytest.mark.parametrize("which", ["results", "content_results"])
def test_the_first_screen_answers_and_little_stands_behind_it(which, request):
    """The screen of a laptop; at most ten more behind it, all else folds."""
    if which == "results":
        bottom, height, width = request.getfixturevalue("on_screen")["screen"]
    else:
        bottom, height, width = measured(request.getfixturevalue(which), SCREEN)
    long = which == "content_results"
    assert bottom <= 1.25 * 800 and height <= 11 + 3 * long
    assert width == 0


@pytest.mark.parametrize("width", [1100, 500])
def test_no_column_of_the_means_is_out_of_sight(results, width):
    """In the window of a laptop, and on a telephone, also beside the name of a long run."""
    beyond = measured(
        results,
        """const means = document.querySelector(".means .scroll");
        means.querySelector("tbody th").textContent = "  Self report comparison, forced";
        return means.scrollWidth - means.clientWidth;""",
        (width, 800),
    )
    assert beyond == 0


def test_nothing_is_cut_on_a_phone(results):
    beyond = measured(
        results,
        "return document.documentElement.scrollWidth - document.documentElement.clientWidth;",
        (500, 844),  # the narrowest window of the browser
    )
    assert beyond == 0


def test_tables_sort_by_their_numbers_and_back(on_screen):
    up, down = on_screen["sorted"]
    numbers = [float(text.replace("−", "-")) for text in up]
    assert len(numbers) > 3 and numbers == sorted(numbers)
    assert [float(text.replace("−", "-")) for text in down] == sorted(numbers, reverse=True)


def test_answers_are_searched(on_screen):
    visible, total = on_screen["searched"]
    assert visible and all(visible) and len(visible) < total


def kinds(directory):
    """Give the headings of a page, and its elements by tag and class; no drawings."""
    page = (directory / "report.html").read_text(encoding="utf-8").split("<body>")[1]
    page = re.sub("<svg.*?</svg>", "", page.split("<script>")[0], flags=re.S)
    page = re.sub('<div class="means">.*?</table>', "", page, flags=re.S)  # styled by verdict
    headings = set(re.findall('<h[1-6] id="([^"]*)"', page))
    elements = re.findall(r'<([a-z]+[1-6]?)(?: (?:[^>]* )?class="([^"]*)")?', page)
    return headings, set(elements)


def test_few_stereotypes_have_the_page_of_many(few_results, results):
    headings, elements = kinds(few_results)
    assert (headings, elements) == kinds(results)
    assert len(headings) >= 15 and len(elements) > 60


@pytest.mark.parametrize("which", ["few_results", "network_results", "state_results"])
def test_an_automated_audit_finds_no_barrier(which, request):
    """axe-core: WCAG 2.1 A and AA and good practice, with everything unfolded."""
    axe = (Path(axe_core_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
    violations = measured(
        request.getfixturevalue(which),
        axe.replace("</script", "<\\/script")
        + """; const rules = ["wcag2a", "wcag2aa", "wcag21aa", "best-practice"];
        return window.axe.run(document, {runOnly: rules, resultTypes: ["violations"]}).then((all) =>
          all.violations.map((one) => [one.id, one.nodes.length, one.nodes[0].html.slice(0, 99)]));
        """,
        unfold=True,
    )
    assert violations == []


#: Texts of drawings that reach beyond their drawing, and the number of all.
_CUT = """
const cut = [];
let count = 0;
for (const svg of document.querySelectorAll(".chart svg")) {
  const view = svg.getBoundingClientRect();
  for (const text of svg.querySelectorAll("text")) {
    const box = text.getBoundingClientRect();
    count += 1;
    if (box.left < view.left - 1 || box.right > view.right + 1 || box.top < view.top - 1 ||
        box.bottom > view.bottom + 1) cut.push(text.textContent);
  }
}
return [cut, count];
"""


@pytest.mark.parametrize(
    "which", ["results", "content_results", "five_results", "network_results", "state_results"]
)
def test_no_text_of_a_drawing_is_cut(which, request):
    cut, count = measured(request.getfixturevalue(which), _CUT, unfold=True)
    assert count > 20 and cut == []
