"""Prompts of BOLD by group, and the one table that the released files become.

The files of Dhamala et al. (2021), github.com/amazon-science/bold, are JSON: group → title of a
Wikipedia article → beginnings of its sentences. They may be passed on under their own licence only
(CC BY-SA 4.0), so a user brings them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import polars as pl
from pydantic import TypeAdapter, ValidationError

from clinometer.authoring import BenchmarkItems, StudyError, read_items

__all__ = ["join_bold", "read_bold"]

_FILE = TypeAdapter(dict[str, dict[str, list[str]]])


@lru_cache(maxsize=4)
def read_bold(items: BenchmarkItems, study: str) -> Mapping[str, tuple[str, ...]]:
    """Read the prompts of each group; `study` is the path of the study file.

    Empty prompts and repetitions within a group are left out, and so is the space at the end.
    Raises StudyError if a column is missing.
    """
    table = read_items(items, study, ("group", "prompt"))
    # In the order of the table, on which draws depend.
    rows = table.select("group", pl.col("prompt").str.strip_chars())
    prompts = rows.filter(pl.col("prompt") != "").unique(maintain_order=True)
    groups = prompts.group_by("group", maintain_order=True).agg("prompt")
    return {group: tuple(texts) for group, texts in groups.iter_rows()}


def join_bold(files: Mapping[str, bytes]) -> bytes:
    """Make the table of prompts, as CSV: domain, group, title, prompt.

    `files`: name → content of a released file; ``gender_prompt.json`` is of the domain ``gender``.
    Raises StudyError if a file is not of this form.
    """
    rows: list[tuple[str, str, str, str | None]] = []
    for name, content in files.items():
        try:
            groups = _FILE.validate_json(content, strict=True)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"])) or "the file"
            raise StudyError(
                f"items {name}: {where[:80]}: {first['msg']}; expected group → title → prompts"
            ) from None
        domain = name.removesuffix(".json").removesuffix("_prompt")
        for group, titles in groups.items():
            for title, prompts in titles.items():
                # Null, because CSV writes "" for an empty text and nothing for null.
                rows += [(domain, group, title, prompt or None) for prompt in prompts]
    columns = dict.fromkeys(("domain", "group", "title", "prompt"), pl.String())
    return pl.DataFrame(rows, schema=columns, orient="row").write_csv().encode()
