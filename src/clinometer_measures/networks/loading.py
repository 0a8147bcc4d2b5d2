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
from clinometer.results.columns import Schema
from clinometer.results.records import find_fault, read_lines
from clinometer.words import delimited
from clinometer_measures.networks.network import Network

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
    tables = _count_shards if path.is_dir() else _count_table
    counts = _add_up(tables(path, responses, skipped))
    if counts.is_empty():
        raise InputError(f"{path}: no answers")
    integers = (counts["count"] == counts["count"].round()).all()
    return counts.with_columns(pl.col("count").cast(pl.Int64 if integers else pl.Float64)), skipped


def _count_table(path: Path, responses: str, skipped: Counter[str]) -> Iterator[pl.DataFrame]:
    columns = delimited.header(path)
    if {"cue", *ANSWERS} <= set(columns):
        return _count_rows(path, responses, PARTICIPANT in columns, skipped)
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
    return _read_counts(path, count, skipped)


def _read_counts(path: Path, count: str | None, skipped: Counter[str]) -> Iterator[pl.DataFrame]:
    n_before = 0  # rows of the tables before, for the number of a row in an error
    columns = ["cue", "response", *([count] if count else [])]
    for table in delimited.records(path, columns):
        # Without a column of counts each row is one answer.
        texts = table.select(
            pl.col("cue", "response").str.strip_chars(),
            text=pl.col(count) if count else pl.lit("1"),
        )
        number = pl.col("text").str.strip_chars().cast(pl.Float64, strict=False)
        counts = texts.with_columns(count=number)
        valid = (pl.col("count").is_finite() & (pl.col("count") > 0)).fill_null(False)
        wrong = counts.with_row_index("row").filter(~valid)
        if not wrong.is_empty():
            row, cue, response, entry, _ = wrong.row(0)
            raise InputError(
                f"{path}: row {n_before + row + 1}, {cue!r} – {response!r}: {count} {entry!r}; "
                "counts are numbers above 0; leave out responses that were never given"
            )
        n_before += counts.height
        yield _drop_missing(counts.drop("text"), skipped)


def _count_rows(
    path: Path, responses: str, participants: bool, skipped: Counter[str]
) -> Iterator[pl.DataFrame]:
    """Count rows with up to three answers each."""
    columns = RESPONSES[responses]
    n_before = 0
    for table in delimited.records(path, ["cue", *columns]):
        # The offset keeps answers of different tables apart.
        answers = table.with_row_index("answer", offset=n_before)
        n_before += table.height
        lists = answers.select("answer", "cue", response=pl.concat_list(columns))
        yield _count(lists, skipped, NO_ANSWER if participants else ())


def _count_shards(folder: Path, responses: str, skipped: Counter[str]) -> Iterator[pl.DataFrame]:
    """Count the answers in a directory of shards, or of results with shards below ``answers/``."""
    shards = _find_shards(folder)
    is_last = _mark_last_answers(shards)
    skipped["repeated"] += len(is_last) - int(is_last.sum())
    n_responses = 1 if responses == "R1" else None
    rows = (
        (number, line["cue"], line["responses"][:n_responses])
        for number, line in enumerate(_shard_lines(shards, skipped))
        if is_last[number]
    )
    schema: Schema = {"answer": pl.Int64(), "cue": pl.String(), "response": pl.List(pl.String())}
    batches = iter(lambda: list(islice(rows, LINES)), [])  # ends at the first empty one
    for batch in chain([[]], batches):  # at least one table
        yield _count(pl.DataFrame(batch, schema=schema, orient="row"), skipped)


def _count(lists: pl.DataFrame, skipped: Counter[str], missing: Sequence[str] = ()) -> pl.DataFrame:
    """Count responses, a list of them per row; duplicates to one question count once."""
    responses = lists.explode("response", empty_as_null=True).with_columns(
        pl.col("cue", "response").str.strip_chars()
    )
    is_missing = pl.col("response").str.to_lowercase().is_in(missing)
    # `when` without `otherwise` gives null, which is then dropped.
    without_codes = responses.with_columns(response=pl.when(~is_missing).then("response"))
    answers = _drop_missing(without_codes, skipped)
    question_and_text = pl.struct("answer", pl.col("response").str.to_lowercase())
    distinct = answers.filter(question_and_text.is_first_distinct())
    skipped["doubled"] += answers.height - distinct.height
    return _sum(distinct.with_columns(count=pl.lit(1.0)))


def _drop_missing(answers: pl.DataFrame, skipped: Counter[str]) -> pl.DataFrame:
    complete = answers.filter((pl.col("cue") != "") & (pl.col("response") != ""))
    skipped["missing"] += answers.height - complete.height
    return complete


def _add_up(tables: Iterable[pl.DataFrame]) -> pl.DataFrame:
    frames: list[pl.DataFrame] = []
    for table in tables:
        frames.append(table)
        # The first frame is the sum so far: only what was added since can shrink.
        if sum(frame.height for frame in frames[1:]) > MOST_PAIRS:
            frames = [_sum(pl.concat(frames))]
    return _sum(pl.concat(frames))


def _sum(counts: pl.DataFrame) -> pl.DataFrame:
    return counts.group_by("cue", "response", maintain_order=True).agg(pl.col("count").sum())


def _find_shards(folder: Path) -> list[Path]:
    root = folder / "answers" if (folder / "answers").is_dir() else folder
    shards = sorted(root.rglob("*.jsonl"))
    if not shards:
        raise InputError(f"{folder}: no .jsonl file in {root.name}/; expected association shards")
    models = sorted({str(shard.parent) for shard in shards})
    if len(models) > 1:
        raise InputError(f"{folder}: answers of several models; name one: {', '.join(models)}")
    return shards


def _mark_last_answers(shards: list[Path]) -> NDArray[np.bool_]:
    """Mark the lines that no later line replaces; memory: one integer per line."""
    # Its faults are counted when the lines are read again for their answers.
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
