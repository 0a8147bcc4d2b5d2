"""``clinometer init`` and ``dossier``, as they are called."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., tuple[int, str, str]]

SYSTEM = ("--system", "Ranker", "--model", "simulated/leaning", "--use", "Ranks résumés")


def test_a_dossier_is_begun_filled_in_and_written(run: Run) -> None:
    code, out, _ = run("init", *SYSTEM, "--group", "Women=career")
    assert code == 0 and "profile.yaml: 9 to be filled in" in out
    options = (
        "--study",
        "bai2025",
        "--instrument",
        "word_association",
        "--stereotypes",
        "career",
        "--no-profile",
        "--out",
        "r",
    )
    assert run("audit", "simulated/leaning", "--policy", "policy.yaml", *options)[0] == 0
    code, _, err = run("dossier", "r", "--profile", "profile.yaml", "--out", "d")
    assert code == 2 and "profile.yaml:" in err and "owner: empty; fill it in" in err
    assert not Path("d").exists()
    text = Path("profile.yaml").read_text("utf-8")
    text = text.replace("FILL IN: a date, as 2027-06-30", "2999-01-01").replace("FILL IN: ", "")
    Path("profile.yaml").write_text(text, "utf-8")
    code, out, _ = run("dossier", "r", "--profile", "profile.yaml", "--out", "d")
    assert code == 0 and "the policy was declared before the run" in out
    assert "Audit cards, six features: 2 of 6 answered" in out
    assert Path("d/public-summary.html").is_file()


@pytest.mark.parametrize("option", ["--system", "--model", "--use", "--group"])
def test_without_a_terminal_what_is_needed_is_named(run: Run, option: str) -> None:
    values = {**dict(zip(SYSTEM[::2], SYSTEM[1::2], strict=True)), "--group": "Women"}
    del values[option]
    code, _, err = run("init", *(part for pair in values.items() for part in pair))
    assert code == 2 and f"{option}: needed" in err
    assert not list(Path().iterdir())


@pytest.mark.parametrize("twins", [("",), ("loan.txt", "yes/no")])
def test_a_terminal_is_asked(
    run: Run, monkeypatch: pytest.MonkeyPatch, twins: tuple[str, ...]
) -> None:
    Path("loan.txt").write_text("{name} wants a loan. Yes or no?", "utf-8")
    replies = iter([*twins, "Ranker", "simulated/leaning", "Ranks", "Women=gender, Veterans"])
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("click.prompt", lambda question, **_: next(replies))
    assert run("init")[0] == 0
    assert Path("loan.twins.yaml").exists() == (twins != ("",))
    text = Path("profile.yaml").read_text("utf-8")
    assert 'name: "Women", measured_by: ["gender"]' in text and "Veterans" in text
