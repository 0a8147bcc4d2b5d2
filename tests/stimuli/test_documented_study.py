"""The study files shown in the documentation are valid."""

from __future__ import annotations

import re
from pathlib import Path

from tiltmeter.stimuli import parse_study

ROOT = Path(__file__).resolve().parents[2]


def blocks(name: str) -> list[str]:
    return re.findall(r"```yaml\n(.*?)```", (ROOT / name).read_text(encoding="utf-8"), re.DOTALL)


def test_the_study_of_the_readme() -> None:
    (text,) = blocks("README.md")
    assert parse_study(text, "README.md").name == "pets"


def test_the_studies_of_the_guide() -> None:
    whole, wordings = blocks("docs/studies.md")
    assert parse_study(whole, "whole").stereotypes["cats"].label == "Cats"
    instruments, changed = wordings.split("stereotypes:\n  cats:\n    …\n")
    study = parse_study(whole.rstrip() + "\n" + changed + instruments, "studies.md")
    assert study.stereotypes["cats"].words("other_words").extra == ["furry"]
