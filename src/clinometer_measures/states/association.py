"""Association tests: which words are closer to which attributes, inside a model.

Reference
    ``weat``: Caliskan, Bryson & Narayanan (2017), Science 356, 183–186.
    ``seat``: May et al. (2019), NAACL, 622–628: the same test on states of words in sentences that
    say nothing, the templates; `of["contexts"]` is then ``templates``.
    ``ceat``: Guo & Caliskan (2021), AIES, 122–133; see `sampled`.
    ``ripa``: Ethayarajh, Duvenaud & Hirst (2019), ACL, 1696–1705.
    ``mac``: Manzini et al. (2019), NAACL, 615–621.

Measures
    WEAT. With s(w) the mean cosine of w with the first attributes minus that with the second, the
    effect is the difference of mean s between the first and the second targets in standard
    deviations of s over all targets: −2…2, neutral 0, positive where the first targets are closer
    to `toward`. `statistic` is the difference of summed s; p is the share of partitions of the
    targets that make it as large (`partitions`). The interval resamples words (`differential`).

    RIPA adds a test for groups that are named by few words, even one each, where partitions of
    targets cannot tell anything: attributes are projected on the line through the two groups (the
    difference of their mean states), and it is the attributes that are partitioned and whose
    standard deviation is the unit. Lengths of the group words' states, which follow how frequent
    they are, do not count.

    MAC adds which of the two groups an effect comes from, a row for each: its mean cosine distance
    to the attributes of the other side minus that to its own. In units of cosine, −2…2, neutral
    0, positive where the group is closer to the attributes it is tied to; p from partitions of
    the attributes. A WEAT effect may come from one group alone.

Placebos
    Method ``placebo``: p, two-sided, is the rank of the effect among effects with references
    shuffled (`placebos`). Neutral words in place of the attributes would need a list of such words
    and their states; words of a test that change sides are matched by construction.

Deviations from the sources
    May et al. take each sentence for an item; here a word has one state, its mean over the
    templates, for sentences of one word are no independent items and would make p too small.
    The standard deviation has ddof 0. The WEAT paper does not say; with ddof 1 the effect is
    √((n − 1) / n) of ours. Caliskan et al. count partitions strictly above; here ties and the
    partition found count, so p is never 0. RIPA takes the difference of means for the first
    principal component of pairs, for groups are not paired, and is standardised, so that layers
    compare. MAC is published as one mean distance over all attribute sets, which says how close
    words stand but not to which side; here it is the contrast of the two sides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from clinometer.errors import InputError
from clinometer.results import as_estimates, columns
from clinometer.statistics.clustered import adjusted, holm
from clinometer_measures.states.contexts import average_contexts
from clinometer_measures.states.differential import Differential, permute
from clinometer_measures.states.measures import MEASURES
from clinometer_measures.states.placebos import TOO_FEW, place_test
from clinometer_measures.states.readers.states import HiddenStates
from clinometer_measures.states.sampled import combine_samples
from clinometer_measures.states.tables import ASSOCIATION_TESTS
from clinometer_measures.states.word_tests import FEWEST, TestSetting, WordSet, WordTest, test_words

#: A function called test is no test of pytest's.
__test__: dict[str, str] = {}

__all__ = ["Tested", "TestSetting", "test_associations"]

Array = NDArray[np.float64]
Rows = list[tuple[str, dict[str, Any]]]

#: What stands in the rows of all methods of a test.
_SHARED = columns(
    *("subject", "model", "contexts", "removed", "study", "instrument", "measure", "level"),
    *("stereotype", "dimension", "layer", "first", "second", "toward", "against", "n"),
    *("estimate", "note"),
)
_INTERVAL = columns("confidence", "ci_low", "ci_high")
_STATISTIC = columns("method", "test", "statistic", "n_resamples")
#: One row per test and layer, before it is parted into methods.
_FLAT = {**_SHARED, **_STATISTIC, **_INTERVAL, **columns("p", "se"), **ASSOCIATION_TESTS}
_FLAT |= columns("placebo_mean", "placebo_low", "placebo_high")
_FLAT |= {"p_two_sided": pl.Float64(), "p_placebo": pl.Float64()}


class Tested(NamedTuple):
    """Columns of `results.ESTIMATES`, and of ASSOCIATION_TESTS, the words behind them."""

    estimates: pl.DataFrame
    tests: pl.DataFrame


def test_associations(
    states: HiddenStates,
    tests: Sequence[WordTest],
    *,
    of: Mapping[str, object],
    method: str = "weat",
    setting: TestSetting | None = None,
) -> Tested:
    """Test associations at every layer.

    Parameters
    ----------
    states
        Of every word of the tests (`test_words`); for ``ceat`` of every word in each of its
        contexts, with keys ``word|number``, which the others average.
    tests
        Two sets of targets and two of attributes each.
    of
        What the states are of, for the columns `model`, `contexts` and `removed`.
    method
        weat | seat | ceat | ripa | mac; ``weat`` of words in templates is called ``seat``.
    setting
        How; by default as `TestSetting` says.

    Returns
    -------
    Tested
        For each test and layer (of ``mac`` for each group) an estimate by methods ``permutation``,
        alternative greater and two-sided, ``bootstrap`` and ``placebo``; of ``ceat`` by
        ``random_effects`` and ``placebo``.
        There is no row of a mean over layers: mean effects have no test of this kind. No number is
        null, and `note` says why.

    Raises
    ------
    InputError
        If a word has no state, or its state is all zero, or there is no such method.

    Examples
    --------
    >>> words = tuple("abcdefgh")
    >>> values = np.array([[[1, 0]], [[3, 1]], [[0, 1]], [[1, 2]]] * 2, dtype=np.float32)
    >>> states = HiddenStates(words, ("0",), values, np.ones(8, dtype=np.int64))
    >>> sets = [WordSet(name, tuple(name)) for name in ("ab", "cd", "ef", "gh")]
    >>> of = {"model": "m", "contexts": "none", "removed": 0}
    >>> tested = test_associations(states, [WordTest("mine", "one", *sets)], of=of)
    >>> tested.estimates.select(pl.col("estimate").round(3), "p", "n_resamples").row(0)
    (1.914, 0.16666666666666666, 6)
    """
    if method not in _MEASURES:
        raise InputError(f"method {method!r}: allowed are {', '.join(_MEASURES)}")
    setting = setting or TestSetting()
    if method != "ceat":
        states = average_contexts(states, test_words(tests))
    measure = "seat" if method == "weat" and of.get("contexts") in SENTENCES else method
    row = {**of, "subject": of["model"], "instrument": "association_test", "measure": measure}
    row |= {"level": "stereotype", "confidence": setting.confidence}
    row |= {"method": "random_effects" if measure == "ceat" else "permutation"}
    rows: list[dict[str, Any]] = []
    for word_test in tests:
        test = word_test.as_weat if measure in _BY_TARGETS else word_test
        row |= {"study": test.study, "stereotype": test.stereotype, "dimension": test.dimension}
        # `n` counts the words that are parted into two sets by chance.
        shuffled = ("n_first", "n_second") if measure in _BY_TARGETS else ("n_toward", "n_against")
        sides = _describe_sets(*test.sets)
        row |= {**sides, "n": sum(sides[name] for name in shuffled)}
        for layer, numbers in _MEASURES[method](states, test, setting):
            rows.append({**row, "layer": layer, **numbers})
    flat = pl.DataFrame(rows, schema=_FLAT).with_row_index("row")
    estimates = as_estimates(_rows_by_method(flat, setting), MEASURES, "states")
    return Tested(estimates, flat.select(list(ASSOCIATION_TESTS)))


def _rows_by_method(flat: pl.DataFrame, setting: TestSetting) -> pl.DataFrame:
    """Give each method and alternative a row of its own."""
    family = pl.lit("tests of the study in the layer")
    tests = flat.lazy().with_columns(p_holm=adjusted(holm, "study", "layer"), adjusted_over=family)
    random_effects = tests.filter(method="random_effects")
    permutations = tests.filter(method="permutation")
    test_columns = [*_SHARED, *_STATISTIC, "p", "p_holm", "adjusted_over", "row"]
    parts = [
        random_effects.select(*test_columns, "se", *_INTERVAL, alternative=pl.lit("greater")),
        permutations.select(*test_columns, alternative=pl.lit("greater")),
        tests.select(
            *_SHARED, *_STATISTIC, "row", p="p_two_sided", alternative=pl.lit("two-sided")
        ),
    ]
    if setting.placebos:
        parts.append(_placebo_rows(tests, setting.placebos))
    if setting.draws:
        bootstrap = {"method": pl.lit("bootstrap"), "n_resamples": pl.lit(setting.draws)}
        parts.append(permutations.select(*_SHARED, *_INTERVAL, "row", **bootstrap))
    # Parts are in the order of methods; a stable sort sets those of one test and layer together.
    table = pl.concat(parts, how="diagonal_relaxed")
    return table.sort("row", maintain_order=True).drop("row").collect()


def _placebo_rows(tests: pl.LazyFrame, draws: int) -> pl.LazyFrame:
    """Give the rows of tests whose references were shuffled between their sets, or why not."""
    return tests.select(
        *(name for name in _SHARED if name != "note"),
        *("placebo_mean", "placebo_low", "placebo_high", "confidence", "adjusted_over", "row"),
        p="p_placebo",
        p_holm=adjusted(holm, "study", "layer", column="p_placebo"),
        n_resamples=pl.when(pl.col("p_placebo").is_not_null()).then(draws),
        note=pl.coalesce("note", pl.when(pl.col("p_placebo").is_null()).then(pl.lit(TOO_FEW))),
        method=pl.lit("placebo"),
        alternative=pl.lit("two-sided"),
    )


def _describe_sets(*sets: WordSet | None) -> dict[str, Any]:
    """Name and count the sets of words; None where a measure compares no second group."""
    sides: dict[str, Any] = {}
    for role, word_set in zip(("first", "second", "toward", "against"), sets, strict=True):
        sides[role] = word_set and word_set.name
        sides[f"n_{role}"] = word_set and len(word_set.words)
    return sides


def _weat(states: HiddenStates, test: WordTest, setting: TestSetting) -> Rows:
    """Test the association of targets by cosines with attributes."""
    first, second, toward, against = (word_set.words for word_set in test.sets)
    if min(len(first), len(second)) < FEWEST:
        short = min(test.sets[:2], key=lambda word_set: len(word_set.words))
        note = f"too few words for the test: {short.name} has {len(short.words)}"
        return [(layer, {"note": note}) for layer in states.layers]
    targets = states.unit(first + second)
    attributes = states.unit(toward + against)
    # Letters: t target, a attribute, l layer, w width.
    cosines = np.einsum("tlw,alw->lta", targets, attributes, optimize=True)
    return _contrast_rows(states, Differential(cosines, len(first), len(toward)), setting)


def _ripa(states: HiddenStates, test: WordTest, setting: TestSetting) -> Rows:
    """Test the association of attributes by projection on the line through the two groups."""
    first, second, toward, against = (word_set.words for word_set in test.sets)
    # The length of the line does not matter: the effect is in standard deviations along it.
    groups = np.concatenate([states.of(first), states.of(second)])
    attributes = np.concatenate([states.of(toward), states.of(against)])
    products = np.einsum("alw,tlw->lat", attributes, groups, optimize=True)
    return _contrast_rows(states, Differential(products, len(toward), len(first)), setting)


def _contrast_rows(states: HiddenStates, differential: Differential, setting: TestSetting) -> Rows:
    """Give the rows of a measure that contrasts two sets of references."""
    placebos = place_test(differential.by_reference, differential.n_references, setting)
    return _layer_rows(states, differential, placebos, setting)


def _mac(states: HiddenStates, test: WordTest, setting: TestSetting) -> Rows:
    """Test each group by itself: its cosines with the attributes of its side, and with the others.

    The attributes are the items here, and the words of the group the references.
    """
    rows = []
    first_group = (test.first, test.second, test.toward, test.against)
    second_group = (test.second, test.first, test.against, test.toward)
    for group, contrast_group, tied, counter in (first_group, second_group):
        attributes = states.unit(tied.words + counter.words)
        words = states.unit(group.words + contrast_group.words)
        cosines = np.einsum("alw,tlw->lat", attributes, words, optimize=True)
        n, size = len(tied.words), len(group.words)
        group_differential = Differential(cosines[..., :size], n, size, standardised=False)
        # Placebos take words of both groups in place of those of the group.
        joint_differential = Differential(cosines, n, size, standardised=False)
        placebos = place_test(joint_differential.by_reference, size, setting, contrast=False)
        sides = _describe_sets(group, None, tied, counter)
        for layer, row in _layer_rows(states, group_differential, placebos, setting):
            rows.append((layer, {**row, **sides}))
    return rows


#: Measures that part targets, and so need at least two on each side.
_BY_TARGETS = {"weat": _weat, "seat": _weat, "ceat": combine_samples}

#: Contexts that are sentences made for the words, in which WEAT is called SEAT.
SENTENCES = ("templates", "prompt")

#: All methods.
_MEASURES = {**_BY_TARGETS, "ripa": _ripa, "mac": _mac}


def _layer_rows(
    states: HiddenStates,
    differential: Differential,
    placebos: Mapping[str, Array],
    setting: TestSetting,
) -> Rows:
    """Set out effect, interval, partitions and placebos of every layer."""
    associations, n = differential.associations, differential.n_items
    partitions = permute(associations, n, setting)
    statistic = associations[:, :n].sum(axis=1) - associations[:, n:].sum(axis=1)
    numbers = {"estimate": differential.effect(), "statistic": statistic}
    numbers |= {"p": partitions.p, "p_two_sided": partitions.p_two_sided}
    if setting.draws:
        low, high = differential.interval(setting.confidence, setting.draws, setting.seed)
        numbers |= {"ci_low": low, "ci_high": high}
    numbers |= placebos
    test = "exact" if partitions.exact else "drawn"
    rows: Rows = []
    for index, layer in enumerate(states.layers):
        row: dict[str, Any] = {name: float(values[index]) for name, values in numbers.items()}
        row |= {"test": test, "n_resamples": partitions.n_partitions}
        if np.isnan(row["estimate"]):
            # The statistic is a difference of sums: it is there without a spread, too.
            row |= dict.fromkeys(name for name in numbers if name != "statistic")
            row["note"] = "no word is closer than another"
        rows.append((layer, row))
    return rows
