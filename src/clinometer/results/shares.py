"""The shares of the words of a response, as one text per response.

A word association test asks for many words at once. Its scores keep the share of each word in the
column `shares`, a JSON object of three lists of equal length:

    {"attribute":["weak","strong"],"set":["tied","counter"],"share":[1.0,0.0]}

JSON passes every table format, and any text of a word, without loss.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl
from pydantic_core import to_json

from clinometer.errors import InputError
from clinometer.results.columns import COLUMNS

#: Responses read at a time; larger pieces take more memory and are slower.
PIECE = 2_000

_NAMES = ("attribute", "set", "share")
_LISTS = pl.Struct({name: pl.List(COLUMNS[name].kind) for name in _NAMES})


def as_shares(shares: Mapping[str, float], sets: Sequence[str]) -> str | None:
    """Write the share of each word of a response, and its set; None without words.

    Examples
    --------
    >>> as_shares({"weak": 1.0}, ["tied"])
    '{"attribute":["weak"],"set":["tied"],"share":[1.0]}'
    """
    if not shares:
        return None
    return to_json({"attribute": [*shares], "set": sets, "share": [*shares.values()]}).decode()


def read_shares(scores: pl.DataFrame) -> pl.DataFrame:
    """Read the column `shares`: a row per response and word.

    Parameters
    ----------
    scores
        A frame with the column `shares`; responses without one have no rows.

    Returns
    -------
    polars.DataFrame
        The other columns of `scores`, with `attribute`, `set` and `share`.

    Raises
    ------
    InputError
        If a text is not such an object, or its lists differ in length.
    """
    with_shares = scores.filter(pl.col("shares").is_not_null())
    lists = pl.col("shares").str.json_decode(_LISTS)
    # A frame without rows has no slices, and is needed for the columns of the result.
    pieces = with_shares.iter_slices(PIECE) if with_shares.height else [with_shares]
    try:
        words = pl.concat(
            piece.with_columns(lists).unnest("shares").explode(_NAMES) for piece in pieces
        )
    except (pl.exceptions.ComputeError, pl.exceptions.ShapeError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"scores: shares: not as score writes them: {reason}") from None
    # JSON without one of the lists is decoded to a null.
    if words.select(pl.any_horizontal(pl.col(_NAMES).is_null().any())).item():
        raise InputError(f"scores: shares: a list of {', '.join(_NAMES)} is missing or has nulls")
    return words
