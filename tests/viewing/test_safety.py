"""Who may ask for what; hostile answers, addresses and files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

PAGES = ("", "answers", "progress.json", "report")


def test_only_this_machine_may_be_asked_for(finished: Path, pages: Any) -> None:
    ask = pages(finished)
    for host, status in (("evil.example", 400), ("127.0.0.1.evil.example", 400), ("", 400),
                         ("localhost:7000", 200), ("127.0.0.1", 200)):  # fmt: skip
        assert ask.client.get(ask.run, headers={"host": host}).status_code == status, host


def test_nothing_is_there_without_the_token(finished: Path, pages: Any) -> None:
    ask = pages(finished)
    for address in ("/", "/runs/", ask.run.replace("/token/", "/other/"), "/docs", "/openapi.json"):
        response = ask.client.get(address)
        assert response.status_code == 404 and "token" not in response.text, address


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_requests_may_only_read(method: str, finished: Path, pages: Any) -> None:
    ask = pages(finished)
    for page in (*PAGES, "inspect/", "inspect/index.html", "nowhere"):
        assert ask.client.request(method, ask.run + page).status_code == 405


def test_head_is_answered_without_a_body(finished: Path, pages: Any) -> None:
    ask = pages(finished)
    assert (response := ask.client.head(ask.run)).status_code == 200 and not response.content


def test_every_response_forbids_what_it_does_not_need(finished: Path, pages: Any) -> None:
    ask = pages(finished)
    for page in (*PAGES, "nowhere"):
        headers = ask.client.get(ask.run + page).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert "access-control-allow-origin" not in headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
        assert page == "report" or "unsafe" not in policy


def test_an_answer_is_text(finished: Path, pages: Any) -> None:
    ask = pages(finished)
    (address,) = ask.addresses("answers?text=pwned", "answer?")
    for page in ("answers", address.removeprefix(ask.run)):
        html = ask(page)
        assert "&lt;script&gt;document.title" in html
        assert "<script>document.title" not in html and "<img" not in html


def test_what_acts_invisibly_is_shown(finished: Path, pages: Any) -> None:
    ask = pages(finished)
    (address,) = ask.addresses("answers?text=gnp.exe", "answer?")
    html = ask(address.removeprefix(ask.run))
    assert "{{7*7}} ⟨U+202E⟩gnp.exe⟨U+202C⟩ ␛[31m ␀" in html
    assert not {"\u202e", "\x1b", "\x00"} & set(html)


def test_what_is_looked_for_is_text(finished: Path, pages: Any) -> None:
    html = pages(finished)("answers?text=%22%3E%3Cscript%3Ealert(1)&model=%3Cb%3E")
    assert "<script>alert" not in html and "<b>" not in html


@pytest.mark.parametrize(
    ("name", "page"),
    [
        ("scores.parquet", "answers"),
        ("responses.parquet", "answers"),
        ("estimates.parquet", "answers"),
        ("estimates.parquet", ""),
        ("plan.json", ""),
        ("plan.json", "progress.json"),
        ("progress.parquet", ""),
    ],
)
def test_a_damaged_file_is_one_line(name: str, page: str, finished: Path, pages: Any) -> None:
    ask = pages(finished)
    content = (finished / name).read_bytes()
    (finished / name).write_bytes(content[: len(content) // 2])
    html = ask(page, 500)
    (line,) = html.split('role="alert">')[1:]
    assert name in line.split("</p>")[0] and "\n" not in line.split("</p>")[0]
    assert "Traceback" not in html
    (finished / name).write_bytes(content)
    ask(page)


def test_an_unforeseen_error_is_one_line_and_forbids_as_much(
    finished: Path, pages: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = pages(finished)
    monkeypatch.setattr("clinometer.viewing.views.find_runs", lambda directory: 1 / 0)
    response = ask.client.get("/token/")
    assert response.status_code == 500 and "ZeroDivisionError while this page" in response.text
    assert "default-src 'none'" in response.headers["content-security-policy"]


def test_a_changed_line_of_a_journal_is_named(half: Path, pages: Any) -> None:
    (journal,) = half.glob("answers/*/*.jsonl")
    text = journal.read_text()
    journal.write_text(text.replace("stop", "stup", 1))
    assert "00000.jsonl:1: changed since it was written" in pages(half)("answers", 500)


def test_a_plan_of_odd_types_is_no_traceback(half: Path, pages: Any) -> None:
    from clinometer.results.records import read_plan, write_plan

    plan = read_plan(half / "plan.json")
    ask = pages(half)
    for odd in ({"models": 3}, {"studies": "x"}, {"models": ["../../etc"]}, {"created": ["<b>"]}):
        write_plan(half / "plan.json", {**plan, **odd})
        for page in ("", "answers", "progress.json"):
            response = ask.client.get(ask.run + page)
            assert "Traceback" not in response.text and "while this page" not in response.text, odd
            assert response.status_code in (200, 404, 500)


def test_names_of_directories_are_text(half: Path, pages: Any) -> None:
    odd = half.with_name('a"><script>alert(1)</script>\u202e'.replace("/", "∕"))
    half.rename(odd)
    ask = pages(half.parent)
    page = ask.client.get("/token/").text
    assert "<script>alert" not in page and "\u202e" not in page and "&lt;script&gt;" in page


def test_progress_names_no_path(finished: Path, pages: Any) -> None:
    progress = json.loads(pages(finished)("progress.json"))
    assert set(progress) == {"stamp", "models"} and str(finished) not in json.dumps(progress)
