"""Read networks and free associations from files.

Free associations come as counts per cue and response or as single answers: the files of Small
World of Words (De Deyne et al. 2019, Behavior Research Methods 51), of LLM World of Words
(Abramski et al. 2024, arXiv:2412.01330), the user's own tables, and the output of ``network
associate``. Answers are counted in chunks; they are never all in memory.

The same answer twice to one question (trimmed, case ignored) counts once, as in LWOW. LWOW removes
such duplicates after cleaning, which is impossible with counts: here "dog" and "dogs" from one
person are two answers. To reproduce LWOW exactly, clean the rows before reading them.

A line of a shard is ``{"cue": str, "repetition": int, "responses": [str, ...], "error": str or
null, ...}``. A stopped run may leave an incomplete line, and a resumed run may ask twice:
incomplete lines are skipped, and the last of several answers to one question counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from clinometer.errors import InputError, shortened
from clinometer.families.networks.network import Network
from clinometer.results.columns import Schema
from clinometer.results.records import find_fault, read_lines
from clinometer.words import delimited

__all__ = ["read_associations", "read_network", "tally_associations"]

#: Column names of the two ends of an edge and of its weight; the first present are used.
ENDS = (("src", "tgt"), ("source", "target"), ("from", "to"), ("cue", "response"))
WEIGHTS = ("wt", "weight", "count", "n", "freq", "R123", "R1")
#: Column names of the count of a response.
COUNTS = ("R123", "R1", "count", "n", "freq", "weight", "wt")
ANSWERS = ("R1", "R2", "R3")
#: Value of `responses` → columns that are counted.
RESPONSES = {"R1": ANSWERS[:1], "R123": ANSWERS}
#: Codes for a missing answer in the participants' rows of Small World of Words.
NO_ANSWER = ("na", "no more responses", "unknown word", '"unknown word')
#: A column that only participants' rows have.
PARTICIPANT = "participantID"
#: Pairs of cue and response in memory before they are aggregated.
MOST_PAIRS = 2_000_000
#: Lines of shards read at a time.
LINES = 50_000


def read_network(path: str | Path, *, name: str | None = None, directed: bool = False) -> Network:
    """Read a network from an edge list.

    Parameters
    ----------
    path
        A table with the columns ``src``, ``tgt`` and ``wt``, or named source and target, from
        and to, cue and response; weight, count, n, freq, R123 or R1.
    name
        Name of the network; by default the file's name, without a leading ``FA_`` and a trailing
        ``_edgelist``.
    directed
        Whether an edge leads only from its first word to its second.

    Returns
    -------
    Network
        With the words in the order of the file.

    Raises
    ------
    InputError
        If a column is missing, or `Network.from_edges` refuses the edges.
    """
    path = Path(path)
    columns = delimited.header(path)
    ends = next((pair for pair in ENDS if set(pair) <= set(columns)), None)
    weight = next((column for column in WEIGHTS if column in columns), None)
    if ends is None or weight is None:
        pairs = "; ".join(" and ".join(pair) for pair in ENDS)
        raise InputError(
            f"{path}: columns {shortened(columns)}; a network needs two for its words ({pairs}) "
            f"and one for the weight ({', '.join(WEIGHTS)})"
        )
    edges = pl.concat(list(delimited.records(path, [*ends, weight])))
    edges.columns = ["src", "tgt", "wt"]
    network = Network.from_edges(edges, directed=directed, name=str(path))
    return replace(network, name=_name(path) if name is None else name)


def _name(path: Path) -> str:
    stem = path.name.removesuffix(".gz").rpartition(".")[0]
    return stem.removeprefix("FA_").removesuffix("_edgelist") or stem


def read_associations(path: str | Path, *, responses: str = "R123") -> pl.DataFrame:
    """Read free associations and count them.

    Parameters
    ----------
    path
        - a strength file of Small World of Words (``cue, response, R1`` or ``R123``, …);
        - its participants' rows (``SWOW-EN.R100``: ``participantID, cue, R1, R2, R3``, …). Only
          there, "NA", "No more responses", "Unknown word" and empty fields are missing answers. In
          other tables "NA" is a word, as are "null", "nan", "none" and "TRUE";
        - rows of LWOW (``cue, R1, R2, R3``); an empty field is a missing answer;
        - any table with ``cue``, ``response`` and a count (count, n, freq, weight or wt);
        - a table with ``cue`` and ``response``, a row per answer;
        - a directory of association shards of one model (``answers/<model>``).

        Tables end in .csv, .tsv, .txt (commas or tabs; also .gz) or .parquet.
    responses
        ``"R123"``: all responses; ``"R1"``: only the first to each question. For a table of counts,
        ``"R1"`` needs a column ``R1``; ``"R123"`` uses the counts as they are.

    Returns
    -------
    polars.DataFrame
        Columns ``cue``, ``response`` (text, trimmed) and ``count`` (Int64; Float64 where a count
        is not whole), each pair once, in the order of the file.

    Raises
    ------
    InputError
        If the file is missing, has no such columns or no answers, a record is malformed, a count is
        not a positive number, or the table does not distinguish the first responses asked for.
    """
    return tally_associations(Path(path), responses=responses)[0]


def tally_associations(path: Path, *, responses: str = "R123") -> tuple[pl.DataFrame, Counter[str]]:
    """Read free associations as `read_associations` does, and count what was left out.

    Returns the table and the number of answers that were ``missing`` or ``doubled`` (duplicates to
    one question) and of shard lines that were ``malformed``, ``failed`` or ``repeated``. Raises
    InputError as `read_associations`.
    """
    if responses not in RESPONSES:
        raise InputError(f"responses {responses!r}; allowed are {', '.join(RESPONSES)}")
    skipped: Counter[str] = Counter()
    read = _of_shards if path.is_dir() else _of_table
    counts = _add_up(read(path, responses, skipped))
    if counts.is_empty():
        raise InputError(f"{path}: no answers")
    whole = (counts["count"] == counts["count"].round()).all()
    return counts.with_columns(pl.col("count").cast(pl.Int64 if whole else pl.Float64)), skipped


def _of_table(path: Path, responses: str, skipped: Counter[str]) -> Iterator[pl.DataFrame]:
    columns = delimited.header(path)
    if {"cue", *ANSWERS} <= set(columns):
        return _of_rows(path, responses, PARTICIPANT in columns, skipped)
    if not {"cue", "response"} <= set(columns):
        raise InputError(
            f"{path}: columns {shortened(columns)}; associations have cue and response, and a "
            f"count ({', '.join(COUNTS)}) unless there is a row per answer; or cue, R1, R2 and R3"
        )
    count = next((name for name in COUNTS if name in columns), None)
    if responses == "R1" and count != "R1":
        raise InputError(
            f"{path}: responses R1: the table does not distinguish first from later responses; "
            "leave responses at R123, or give a table that has the column R1"
        )
    return _of_counts(path, count, skipped)


def _of_counts(path: Path, count: str | None, skipped: Counter[str]) -> Iterator[pl.DataFrame]:
    before = 0
    for piece in delimited.records(path, ["cue", "response", *([count] if count else [])]):
        counts = piece.select(
            pl.col("cue", "response").str.strip_chars(),
            text=pl.col(count) if count else pl.lit("1"),
        ).with_columns(count=pl.col("text").str.strip_chars().cast(pl.Float64, strict=False))
        right = (pl.col("count").is_finite() & (pl.col("count") > 0)).fill_null(False)
        wrong = counts.with_row_index("row").filter(~right)
        if not wrong.is_empty():
            row, cue, response, text, _ = wrong.row(0)
            raise InputError(
                f"{path}: row {before + row + 1}, {cue!r} – {response!r}: {count} {text!r}; "
                "counts are numbers above 0; leave out responses that were never given"
            )
        before += counts.height
        yield _drop_missing(counts.drop("text"), skipped)


def _of_rows(
    path: Path, responses: str, participants: bool, skipped: Counter[str]
) -> Iterator[pl.DataFrame]:
    """Count rows with up to three answers each."""
    columns, before = RESPONSES[responses], 0
    for piece in delimited.records(path, ["cue", *columns]):
        answers = piece.with_row_index("answer", offset=before)
        before += piece.height
        given = answers.select("answer", "cue", response=pl.concat_list(columns))
        yield _count(given, skipped, NO_ANSWER if participants else ())


def _of_shards(folder: Path, responses: str, skipped: Counter[str]) -> Iterator[pl.DataFrame]:
    """Count the answers in a directory of shards, or of results with shards below ``answers/``."""
    shards = _find_shards(folder)
    last = _mark_last(shards)
    skipped["repeated"] += len(last) - int(last.sum())
    most = 1 if responses == "R1" else None
    rows = (
        (number, line["cue"], line["responses"][:most])
        for number, line in enumerate(_shard_lines(shards, skipped))
        if last[number]
    )
    schema: Schema = {"answer": pl.Int64(), "cue": pl.String(), "response": pl.List(pl.String())}
    pieces = iter(lambda: list(islice(rows, LINES)), [])
    for piece in chain([[]], pieces):  # at least one table
        yield _count(pl.DataFrame(piece, schema=schema, orient="row"), skipped)


def _count(given: pl.DataFrame, skipped: Counter[str], missing: Sequence[str] = ()) -> pl.DataFrame:
    """Count answers, several per row; duplicates to one question count once."""
    answers = given.explode("response", empty_as_null=True).with_columns(
        pl.col("cue", "response").str.strip_chars()
    )
    none = pl.col("response").str.to_lowercase().is_in(missing)
    given = _drop_missing(answers.with_columns(response=pl.when(~none).then("response")), skipped)
    once = given.filter(
        pl.struct("answer", pl.col("response").str.to_lowercase()).is_first_distinct()
    )
    skipped["doubled"] += given.height - once.height
    return _sum(once.with_columns(count=pl.lit(1.0)))


def _drop_missing(answers: pl.DataFrame, skipped: Counter[str]) -> pl.DataFrame:
    given = answers.filter((pl.col("cue") != "") & (pl.col("response") != ""))
    skipped["missing"] += answers.height - given.height
    return given


def _add_up(pieces: Iterable[pl.DataFrame]) -> pl.DataFrame:
    frames: list[pl.DataFrame] = []
    for piece in pieces:
        frames.append(piece)
        if sum(frame.height for frame in frames[1:]) > MOST_PAIRS:
            frames = [_sum(pl.concat(frames))]
    return _sum(pl.concat(frames))


def _sum(counts: pl.DataFrame) -> pl.DataFrame:
    return counts.group_by("cue", "response", maintain_order=True).agg(pl.col("count").sum())


def _find_shards(folder: Path) -> list[Path]:
    within = folder / "answers" if (folder / "answers").is_dir() else folder
    shards = sorted(within.rglob("*.jsonl"))
    if not shards:
        raise InputError(f"{folder}: no .jsonl file in {within.name}/; expected association shards")
    models = sorted({str(shard.parent) for shard in shards})
    if len(models) > 1:
        raise InputError(f"{folder}: answers of several models; name one: {', '.join(models)}")
    return shards


def _mark_last(shards: list[Path]) -> NDArray[np.bool_]:
    """Mark the lines that no later line replaces; memory: one integer per line."""
    lines = _shard_lines(shards, Counter())
    keys = np.fromiter((hash((line["cue"], line["repetition"])) for line in lines), np.int64)
    return pl.Series(keys).is_last_distinct().to_numpy()


def _shard_lines(shards: list[Path], skipped: Counter[str]) -> Iterator[dict[str, Any]]:
    for shard in shards:
        for line in read_lines(shard):
            fault = find_fault(line)
            if line is None or fault is not None:
                skipped[fault or "malformed"] += 1
            else:
                yield line
