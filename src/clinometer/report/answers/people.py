"""People beside the word that names them, and beside things that this word is also said of."""

from __future__ import annotations

import polars as pl

from clinometer.pieces.frames import place
from clinometer.pieces.sections import Section
from clinometer.pieces.tables import FROM, LEAN, MEAN, STEREOTYPE, TableColumn, TableSpec
from clinometer.pieces.views import InstrumentResults

#: Kind of a control → how the groups of its stereotypes are named; null: the words themselves.
WORD_FORMS = {None: "the study’s word alone", "things": "things"}

_PEOPLE = "people"

_PEOPLE_TABLE = TableSpec(
    "The same attributes asked of people, which headlines count, of the study’s word alone, and of "
    "things that the word is also said of.",
    (STEREOTYPE, *FROM, TableColumn("Asked of", "form"), LEAN, *MEAN, "n"),
)


def people_section(results: InstrumentResults) -> Section | None:
    """Set the word and the things of each stereotype below its people; None of other studies."""
    if results.words.is_empty():
        return None
    people = results.by_stereotype.with_columns(people_key="stereotype", form=pl.lit(_PEOPLE))
    form = pl.col("control").replace_strict(WORD_FORMS, return_dtype=pl.String)
    forms = pl.concat([people, results.words.with_columns(form=form)], how="diagonal_relaxed")
    keys = dict(zip(people["stereotype"], people["about"], strict=True))
    rows = forms.with_columns(about=pl.col("people_key").replace_strict(keys)).sort(
        place("people_key", keys),
        *(place(name, people[name]) for name in ("model", "mode")),
        place("form", [_PEOPLE, *WORD_FORMS.values()]),
    )
    table = _PEOPLE_TABLE.render(rows, interval=results.plan.interval)
    return Section(
        key="people_and_things",
        open=True,
        title="People, their word, and things",
        short="People",
        tables=(("", table),),
    )
