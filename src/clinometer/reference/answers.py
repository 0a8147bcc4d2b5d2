"""Released answers that are shipped, for a first look without a model or a key."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path


def released_answers() -> Path:
    """Return the table of 2,100 answers of GPT-4o to the word association test.

    Returns
    -------
    Path
        A packed CSV table: `llm`, `domain`, `stereotype`, `variation`, `iteration` and
        `response`; 50 answers of each of 21 stereotypes in two wordings. Source and licence stand
        in ``README.md``.

    Examples
    --------
    >>> released_answers().name
    'gpt4o_word_associations.csv.gz'
    """
    return Path(str(files("clinometer.reference") / "gpt4o_word_associations.csv.gz"))
