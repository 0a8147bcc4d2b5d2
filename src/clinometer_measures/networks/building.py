"""Build a network from counts of free associations: clean the words, then select the edges.

`clean` normalises words (case, spelling, inflection). It follows the preparation of LWOW (Abramski
et al. 2024, arXiv:2412.01330; code as in `rewriting`), which Abramski, Rossetti & Stella (2025) use
for both humans and models. Each step can be left out. Deviations:

- LWOW has no steps ``punctuation``, ``two_words`` and ``countries``; `LWOW_STEPS` lists its steps.
- Its lemmatiser replaces "men" by "man" and "hands" by "hand" inside words ("government" →
  "governmant", which WordNet does not know, so the word is lost), and always takes nltk's shortest
  noun ("boss" → "bos", "us" → "u"). Here whole words are replaced, words in -ss stay (as in
  WordNet's own morphy), and a noun in -s that WordNet lists does not become a noun of two letters
  ("pus" → "pu"). Phrases are looked up with WordNet's underscore ("ice creams" → "ice cream"); LWOW
  passes them to nltk with spaces.
- It restores spaces and hyphens in numbers and inflected words too ("911" → "9-11").
- Here articles are dropped until none is left; LWOW drops each once in a fixed order. Here answers
  are compared with the cues as they are at that step; LWOW compares with corrected and lemmatised
  cues.
- It drops duplicates among the three responses of a row after cleaning; see `loading`.
- It pads or samples each cue to 100 rows; here counts are unchanged.
- Of 17 phrases that WordNet writes in two ways ("shetland sheepdog", "shetland sheep dog") it may
  choose the other spelling: it takes the last in the order of WordNet's synsets.

``lwow_compatible=True`` removes all but the last three deviations.

`build` follows Abramski, Rossetti & Stella (2025, arXiv:2510.24488, "Network construction") and the
code of LWOW (`graphFromEdgeList`, `makeUndirected`, `WNfilter`, `idiosynfilter`, `CC`): an edge
leads from cue to response and is weighted by the number of times the response was given; the two
directions are merged into one edge with the larger weight; words not in WordNet 3.0 and answers
given once are dropped; the largest connected component is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from clinometer.errors import InputError, unknown
from clinometer.results.tables import need_columns
from clinometer.words.wordnet import in_wordnet, lemma
from clinometer_measures.networks.network import Network
from clinometer_measures.networks.rewriting import read_spelling, rewriter, without_articles
from clinometer_measures.networks.structure import largest_component

__all__ = ["DEFAULT_STEPS", "LWOW_STEPS", "build", "clean"]

#: All steps of cleaning, in their order.
DEFAULT_STEPS = (
    "lower_case",  # Dog → dog
    "underscores",  # ice_cream → ice cream
    "punctuation",  # drops all but letters, digits, and hyphens or apostrophes in words
    "articles",  # the dog → dog, unless "the dog" is a cue
    "spaces",  # blackbird stays, teddybear → teddy bear
    "spelling",  # by the table `spelling`
    "countries",  # united states of america → usa
    "two_words",  # answers of more than two words are dropped
    "lemmas",  # dogs → dog
    "no_echo",  # answers equal to their cue are dropped
)
#: The steps of LWOW.
LWOW_STEPS = tuple(
    step for step in DEFAULT_STEPS if step not in ("punctuation", "two_words", "countries")
)

#: Steps that drop pairs → condition for the pairs they keep; `empty` is always the last step.
_CONDITIONS = {
    "two_words": pl.col("response").str.count_matches(r"\S+") <= 2,
    "no_echo": pl.col("cue") != pl.col("response"),
    "empty": pl.all_horizontal(pl.col("cue", "response").str.strip_chars() != ""),
}

_COLUMNS = ("cue", "response", "count")


def clean(
    associations: pl.DataFrame,
    steps: Sequence[str] | None = None,
    *,
    spelling: str | Path | Mapping[str, str] | None = None,
    lwow_compatible: bool = False,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Clean free associations.

    Parameters
    ----------
    associations
        Columns ``cue``, ``response`` and ``count``.
    steps
        Some of `DEFAULT_STEPS`, always applied in the order of that list. None: all of them, or
        `LWOW_STEPS` if `lwow_compatible`.
    spelling
        Misspelling → correction, or the path of such a table. By default nothing is corrected.
    lwow_compatible
        Reproduce the code of LWOW, including its errors.

    Returns
    -------
    tuple of polars.DataFrame
        The associations, each pair once, in order of first appearance; and a row per step:
        ``step``, ``rows`` (pairs after it), ``answers`` (sum of their counts), ``changed`` and
        ``dropped`` (pairs). The first row describes the input. The last two rows drop pairs with an
        empty word (always) and merge equal pairs.

    Raises
    ------
    InputError
        If a step is unknown, a column is missing, or a step leaves no pairs.

    Examples
    --------
    >>> given = {"cue": ["Cat", "cat"], "response": ["dogs", "the dog"], "count": [2, 1]}
    >>> associations, _ = clean(pl.DataFrame(given))
    >>> associations.rows()
    [('cat', 'dog', 3)]
    """
    steps_in_order = _order_steps(steps, lwow_compatible)
    corrections = read_spelling(spelling)
    need_columns(associations, _COLUMNS, "associations")
    pairs = _Pairs.from_table(associations)
    if not pairs.rows.height:
        raise InputError("associations: the table is empty; expected pairs of cue and response")
    log = [_log_cleaning("associations", pairs, pairs)]
    for step in [*steps_in_order, "empty"]:
        before = pairs
        if step in _CONDITIONS:
            pairs = before.keep(_CONDITIONS[step])
        else:
            pairs = _rewrite(before, step, corrections, lwow_compatible)
        log.append(_log_cleaning(step, pairs, before))
    # Cleaning makes pairs equal that were not.
    summed = pairs.frame().group_by("cue", "response", maintain_order=True).agg(pl.sum("count"))
    dropped = pairs.rows.height - summed.height
    log.append({**log[-1], "step": "summed", "rows": summed.height, "dropped": dropped})
    return summed, pl.DataFrame(log)


@dataclass(frozen=True)
class _Pairs:
    """Distinct texts, and `rows`: the indices of a cue and a response, and their count."""

    cues: list[str]
    responses: list[str]
    rows: pl.DataFrame

    @classmethod
    def from_table(cls, associations: pl.DataFrame) -> _Pairs:
        """Give each distinct cue and response of a table a number."""
        texts, places = {}, {}
        for column in ("cue", "response"):
            words = associations.select(word=pl.col(column).cast(pl.String).fill_null(""))
            distinct = words.unique(maintain_order=True).with_row_index("place")
            texts[column] = distinct["word"].to_list()
            numbers = words.join(distinct, on="word", how="left", maintain_order="left")
            places[column] = numbers["place"]
        return cls(texts["cue"], texts["response"], associations.select("count", **places))

    def frame(self) -> pl.DataFrame:
        """Return the pairs as a table."""
        return self.rows.select(
            cue=pl.Series(self.cues, dtype=pl.String).gather(self.rows["cue"]),
            response=pl.Series(self.responses, dtype=pl.String).gather(self.rows["response"]),
            count="count",
        )

    def keep(self, condition: pl.Expr) -> _Pairs:
        """Keep the pairs that fulfil a condition on `frame`."""
        return replace(self, rows=self.rows.filter(self.frame().select(condition).to_series()))

    def count_changed(self, before: _Pairs) -> int:
        """Count the pairs with a changed text; steps leave the number of distinct texts alone."""
        cues = _mark_changes(self.cues, before.cues)
        responses = _mark_changes(self.responses, before.responses)
        # From distinct texts to pairs.
        changed = cues.gather(self.rows["cue"]) | responses.gather(self.rows["response"])
        return int(changed.sum())


def _mark_changes(texts: Sequence[str], before: Sequence[str]) -> pl.Series:
    return pl.Series([text != earlier for text, earlier in zip(texts, before, strict=True)])


def _order_steps(steps: Sequence[str] | None, lwow_compatible: bool) -> list[str]:
    if steps is None:
        steps = LWOW_STEPS if lwow_compatible else DEFAULT_STEPS
    for step in steps:
        if step not in DEFAULT_STEPS:
            all_steps = ", ".join(DEFAULT_STEPS)
            raise InputError(f"steps: {unknown('step', step, DEFAULT_STEPS)}; all: {all_steps}")
    return [step for step in DEFAULT_STEPS if step in steps]


def _rewrite(
    pairs: _Pairs, step: str, spelling: Mapping[str, str], lwow_compatible: bool
) -> _Pairs:
    """Apply a step to every text once."""
    if step == "articles":
        # "the who" stays where it is itself a cue.
        exceptions = _lwow_cues(pairs.cues, spelling) if lwow_compatible else frozenset(pairs.cues)
        return replace(
            pairs,
            responses=[without_articles(r, exceptions, lwow_compatible) for r in pairs.responses],
        )
    change = rewriter(step, spelling, lwow_compatible)
    cues = [change(text) for text in pairs.cues]
    responses = [change(text) for text in pairs.responses]
    return replace(pairs, cues=cues, responses=responses)


def _lwow_cues(cues: Iterable[str], spelling: Mapping[str, str]) -> frozenset[str]:
    """Return the cues as LWOW compares answers with them: already corrected and lemmatised."""
    corrected = (spelling.get(cue, cue) for cue in cues)
    return frozenset("man" if cue == "men" else lemma(cue) for cue in corrected)


def _log_cleaning(step: str, pairs: _Pairs, before: _Pairs) -> dict[str, object]:
    rows = pairs.rows.height
    if not rows:
        raise InputError(f"associations: step {step!r} left no pairs; at least one is needed")
    return {
        "step": step,
        "rows": rows,
        "answers": pairs.rows["count"].sum(),
        "changed": pairs.count_changed(before),
        "dropped": before.rows.height - rows,
    }


def build(
    associations: pl.DataFrame,
    *,
    directed: bool = False,
    wordnet: bool = True,
    min_weight: float = 2,
    component: bool = True,
    name: str = "",
) -> tuple[Network, pl.DataFrame]:
    """Build a network of free associations.

    Parameters
    ----------
    associations
        Columns ``cue``, ``response`` (text) and ``count`` (numbers above 0); counts of equal
        pairs are added up.
    directed
        Whether edges keep their direction, from cue to response; otherwise an edge has the
        larger weight of the two directions.
    wordnet
        Whether to keep only words that WordNet 3.0 knows, inflected or not.
    min_weight
        The smallest weight of an edge; 2 drops answers that were given once.
    component
        Whether to keep only the largest connected component (weakly connected if directed; of
        components of equal size, the one with the alphabetically first edge).
    name
        Name of the network.

    Returns
    -------
    tuple
        The network; and a row per step: ``step``, ``nodes`` (words with an edge) and ``edges``
        after it.

    Raises
    ------
    InputError
        If a column is missing, a word is empty, a count is not a number above 0, or a step leaves
        no edge.

    Examples
    --------
    >>> given = {"cue": ["cat", "dog"], "response": ["dog", "cat"], "count": [2, 5]}
    >>> network, _ = build(pl.DataFrame(given))
    >>> network.edges().rows()
    [('cat', 'dog', 5.0)]
    """
    if not min_weight >= 0:
        raise InputError(f"min_weight: {min_weight}; expected a number from 0")
    edges = _weigh(associations)
    log = [_log_building("associations", edges)]
    steps: list[tuple[str, bool, Callable[[pl.DataFrame], pl.DataFrame]]] = [
        ("no_loops", True, lambda edges: edges.filter(pl.col("src") != pl.col("tgt"))),
        ("undirected", not directed, _join_directions),
        ("wordnet", wordnet, _keep_wordnet),
        ("min_weight", min_weight > 0, lambda edges: edges.filter(pl.col("wt") >= min_weight)),
    ]
    for step, apply, change in steps:
        if apply:
            edges = change(edges)
            log.append(_log_building(step, edges))
    # Sorted, because `group_by` gives its groups in any order.
    network = Network.from_edges(edges.sort("src", "tgt"), directed=directed, name=name)
    if component:
        network = largest_component(network)
        log.append({"step": "component", "nodes": len(network), "edges": network.n_edges})
    return network, pl.DataFrame(log)


def _weigh(associations: pl.DataFrame) -> pl.DataFrame:
    """Add up the counts of equal pairs."""
    need_columns(associations, _COLUMNS, "associations")
    count = pl.col("count").cast(pl.Float64, strict=False)
    words = pl.col("cue", "response").cast(pl.String).str.strip_chars()
    valid = pl.all_horizontal(count.is_finite(), count > 0, words != "")
    wrong = associations.filter(~valid.fill_null(False))
    if not wrong.is_empty():
        cue, response, value = wrong.select(_COLUMNS).row(0)
        raise InputError(
            f"associations: {cue!r} – {response!r}: count {value!r}; expected two words and a "
            "number above 0"
        )
    return associations.group_by(src="cue", tgt="response").agg(wt=count.sum())


def _join_directions(edges: pl.DataFrame) -> pl.DataFrame:
    first, second = pl.min_horizontal("src", "tgt"), pl.max_horizontal("src", "tgt")
    return edges.group_by(src=first, tgt=second).agg(pl.col("wt").max())


def _keep_wordnet(edges: pl.DataFrame) -> pl.DataFrame:
    words = sorted(in_wordnet(_words(edges)))
    return edges.filter(pl.all_horizontal(pl.col("src", "tgt").is_in(words)))


def _words(edges: pl.DataFrame) -> pl.Series:
    return pl.concat([edges["src"], edges["tgt"]]).unique()


def _log_building(step: str, edges: pl.DataFrame) -> dict[str, object]:
    if edges.is_empty():
        raise InputError(f"associations: step {step!r} left no edge; a network needs at least one")
    return {"step": step, "nodes": len(_words(edges)), "edges": edges.height}
