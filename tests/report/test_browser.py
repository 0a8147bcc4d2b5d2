"""The page in a real browser: charts are drawn, answers do not run, nothing is fetched."""

import html
import re
import shutil
import subprocess
import tempfile
from functools import cache

import pytest

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync "
    "--disable-background-networking --disable-component-update --enable-logging=stderr "
    "--virtual-time-budget=20000 --dump-dom"
).split()

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium or Chrome on the path")


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
            timeout=180,
            check=True,
        )
    log = done.stderr.decode(errors="replace")
    return done.stdout.decode(), [line for line in log.splitlines() if ":CONSOLE" in line]


def test_the_console_is_silent(run):
    assert run[1] == []


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
        ("nine_results", 18, "Implicit bias of"),
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


def test_a_radar_has_an_axis_and_a_point_for_each_stereotype(content_results):
    radar = opened(content_results)[0].split('id="figure-radar-forced-1"')[1].split("</figure>")[0]
    assert len(re.findall(r">(?:Age|Mind|Arab|Male)<", radar)) == 3 * 4
    points = re.findall(r"<title>[^<]*Stereotype: [^<]*Mean: ", radar)
    assert len(points) == 3 * 10


def test_marks_take_their_colours_from_the_scheme(run):
    stereotypes = run[0].split('id="figure-stereotypes"')[1].split("</figure>")[0]
    assert 'fill="var(--race)"' in stereotypes


def test_an_answer_does_not_run(run):
    title = re.search("<title>(.*?)</title>", run[0])
    assert title and html.unescape(title[1]) == "Implicit bias of tiltmeter/smollm2"
