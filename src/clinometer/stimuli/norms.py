"""Norms: what people say of the groups of a study, as single ratings.

A study names a table in CSV beside its file (``norms: ratings.csv``). A row is one rating of a
group between two traits, from 0 (`trait_low`) to 100 (`trait_high`); `annotator` tells who gave it.
Ratings on another scale say so in the name of their column, ``rating 1 to 7``, and are brought to 0
to 100.
When the study is read, the text of the table takes the place of its name: it counts in the study's
hash, and a results directory, which keeps the study, can be remade without the file.
"""

from __future__ import annotations

import re
from functools import lru_cache
from io import BytesIO
from pathlib import Path

import polars as pl

from clinometer.errors import InputError, StudyError, find_scale, shortened
from clinometer.packed import open_packed

#: Columns of a table of norms; `annotator` may be missing, and is then null.
NORMS = {
    "annotator": pl.String(),
    "group": pl.String(),
    "trait_low": pl.String(),
    "trait_high": pl.String(),
    "rating": pl.Float64(),
}

#: A larger table is refused; of a packed one, before it is unpacked.
MAX_BYTES = 2_000_000

#: Ends of the scale.
LOW, HIGH = 0.0, 100.0

#: Ratings that all lie below are on another scale, which has to be stated.
_LEAST_MAXIMUM = 10.0

_FILE = re.compile(r"[\w-][\w.-]*\.csv(\.gz)?")


def inline_norms(norms: str, folder: Path) -> str:
    """Return the text of a table of norms.

    Parameters
    ----------
    norms
        The name of a file, or the text of a table already.
    folder
        Where the file lies: that of the study file.

    Raises
    ------
    StudyError
        If the name has folders, the file is missing or larger than 2 MB, or it is no table of norms
        (see `parse_norms`).
    """
    if "\n" in norms:
        parse_norms(norms, "norms")
        return norms
    if not _FILE.fullmatch(norms):
        raise StudyError(
            f"norms {norms[:80]!r}: expected the name of a file beside the study file, without "
            "folders, that ends in .csv or .csv.gz"
        )
    text = _read(folder / norms)
    parse_norms(text, f"norms {norms}")
    return text


def _read(path: Path) -> str:
    if not path.is_file():
        raise StudyError(f"norms {path.name}: no such file in {path.parent}")
    try:
        with open_packed(path) as file:
            # One byte more than is allowed tells a table that is too large from one that just fits.
            content = file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise StudyError(f"norms {path.name}: larger than {MAX_BYTES // 1_000_000} MB")
        return content.decode("utf-8-sig").replace("\r\n", "\n")
    except (InputError, OSError, UnicodeDecodeError):
        raise StudyError(f"norms {path.name}: cannot be read as CSV in UTF-8") from None


@lru_cache(maxsize=8)
def parse_norms(text: str, label: str = "norms") -> pl.DataFrame:
    """Read a table of norms: columns `NORMS`, a row per rating; errors call it `label`.

    Raises
    ------
    StudyError
        If a column is missing, there is no row, a name is empty, a rating is no number on its
        scale, or all are as on another scale, which is not stated.
    """
    try:
        table = pl.read_csv(BytesIO(text.encode()), infer_schema=False)
    except pl.exceptions.PolarsError as error:
        why = str(error).splitlines()[0]
        raise StudyError(f"{label}: not a table in CSV ({why})") from None
    table, low, high = _with_scale(table, label)
    if missing := [c for c in NORMS if c not in table.columns and c != "annotator"]:
        raise StudyError(
            f"{label}: missing column {', '.join(missing)}; has {shortened(table.columns)}; "
            "expected group, trait_low, trait_high, rating and, where it is known, annotator"
        )
    if table.is_empty():
        raise StudyError(f"{label}: no ratings")
    if "annotator" not in table.columns:
        table = table.with_columns(annotator=pl.lit(None, pl.String))
    texts = table.select(pl.col(name).str.strip_chars() for name in NORMS)
    rating = pl.col("rating").cast(pl.Float64, strict=False)
    # A comparison with nan is false, and so is one with null.
    in_range = rating.is_between(low, high).fill_null(False)
    names = ("group", "trait_low", "trait_high")
    has_names = pl.all_horizontal(pl.col(c).fill_null("") != "" for c in names)
    rows = texts.with_row_index("row", 2)  # as an editor counts lines, below the head
    if not (wrong := rows.filter(~has_names)).is_empty():
        raise StudyError(f"{label}: row {wrong['row'][0]}: group, trait_low or trait_high is empty")
    if not (wrong := rows.filter(~in_range)).is_empty():
        value = (wrong["rating"][0] or "")[:40]
        raise StudyError(
            f"{label}: row {wrong['row'][0]}: rating {value!r}; expected {low:g} to {high:g}"
        )
    return texts.with_columns((rating - low) / (high - low) * HIGH)


def _with_scale(table: pl.DataFrame, label: str) -> tuple[pl.DataFrame, float, float]:
    """Return a table with a column `rating`, and the ends of the scale of its ratings."""
    scale = find_scale(table.columns, "rating")
    if scale is not None:
        column, low, high = scale
        return table.rename({column: "rating"}), low, high
    ratings: list[float] = []
    if "rating" in table.columns:
        numbers = table["rating"].str.strip_chars().cast(pl.Float64, strict=False)
        ratings = numbers.drop_nulls().to_list()
    if ratings and len(ratings) == table.height and max(ratings) <= _LEAST_MAXIMUM:
        raise StudyError(
            f"{label}: ratings from {min(ratings):g} to {max(ratings):g}; expected 0 to {HIGH:g}. "
            "If people rated on another scale, name the column by its ends: rating 1 to 7"
        )
    return table, LOW, HIGH
