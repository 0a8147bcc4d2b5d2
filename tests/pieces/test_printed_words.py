"""What values are called: by one word each, that of the design, in every text."""

import re
from pathlib import Path

import pytest

import clinometer
from clinometer.pieces.validity import PRINTED_VALIDITY
from clinometer.results.ranges import RANGES
from clinometer.results.verdicts import PRINTED_CHANGES, PRINTED_MEANS

#: Value → as it is printed, whatever measures it.
PRINTED = {
    **PRINTED_MEANS,
    **RANGES,
    **PRINTED_CHANGES,
    "passed": PRINTED_VALIDITY["valid"],
    "failed": PRINTED_VALIDITY["not valid"],
}

#: Words that were used for one of these.
OTHER_WORDS = re.compile(
    r"for these words|in all prompts|beyond the margin from none|\bnot valid\b|\binvalid\b"
)


@pytest.fixture(scope="module")
def words_of_the_design(shared_data):
    """Each value of the design's table, and the first word that is printed of it."""
    text = (shared_data.parent / "DESIGN.md").read_text(encoding="utf-8")
    table = text[text.index("| in the table | printed |") : text.index("**Sign.**")]
    words = {}
    for line in table.strip().splitlines()[2:]:
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        names = re.findall(r"`(\w+)`", cells[0])
        words.update(zip(names, cells[1].split("; "), strict=False))
    return words


def test_a_value_is_printed_by_the_word_of_the_design(words_of_the_design):
    known = {name: text for name, text in words_of_the_design.items() if name in PRINTED}
    assert len(known) >= 13
    for name, text in known.items():
        # What follows says it once more, at length.
        assert re.split(r" \(|: ", PRINTED[name])[0] == re.split(r" \(|: ", text)[0], name


def test_no_text_has_another_word_for_it():
    """Of the texts that are printed; values of tables are called as they are."""
    source = Path(clinometer.__file__).parent
    printed = [*(source / "report").rglob("*"), *(source / "pieces").rglob("*")]
    for path in printed:
        if path.suffix in {".py", ".j2", ".md"} and path.name != "validity.py":
            text = path.read_text(encoding="utf-8")
            assert not OTHER_WORDS.findall(text), path
