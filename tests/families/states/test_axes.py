"""Axes of hand-made poles whose coordinates are known; components taken out of states."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinometer.errors import InputError
from clinometer_measures.states.axes import build_axes, remove_components
from clinometer_measures.states.dictionary import SENSES, Dictionary
from clinometer_measures.states.readers.states import HiddenStates


def dictionary(*rows: tuple[str, str, str]) -> Dictionary:
    """Make a dictionary of (dimension, term, direction)."""
    full = [
        (term, term, None, None, dimension, direction, []) for dimension, term, direction in rows
    ]
    return Dictionary("mine", pl.DataFrame(full, schema=dict(SENSES), orient="row"))


def states(values: dict[str, list[list[float]]]) -> HiddenStates:
    """Make states, one list per layer."""
    array = np.array(list(values.values()), dtype=np.float32)
    layers = tuple(map(str, range(array.shape[1])))
    return HiddenStates(tuple(values), layers, array, np.ones(len(values), dtype=np.int64))


#: Kind and able differ from their opposites by (2, 0, 0) and (1, 1, 0): axes that are not square.
TWO = dictionary(
    ("Kindness", "kind", "high"),
    ("Kindness", "cruel", "low"),
    ("Skill", "able", "high"),
    ("Skill", "inept", "low"),
)
POLES = states(
    {
        "kind": [[3, 0, 5], [0, 1, 0]],
        "cruel": [[1, 0, 5], [0, 0, 0]],
        "able": [[1, 1, 0], [0, 0, 4]],
        "inept": [[0, 0, 0], [0, 0, 0]],
    }
)


def test_coordinates_by_hand() -> None:
    axes = build_axes(POLES, TWO)
    coordinates = axes.coordinates(states({"x": [[4, 2, 9], [7, 3, 2]]}))
    assert axes.labels == (("fine", "Kindness"), ("fine", "Skill"))
    # (4, 2, ·) is 1 × (2, 0) + 2 × (1, 1); in layer 1 the axes are (0, 1, 0) and (0, 0, 4)
    np.testing.assert_allclose(coordinates[:, :, 0], [[1, 2], [3, 0.5], [2, 1.25]], atol=1e-12)


def test_coordinates_are_least_squares_as_numpy_has_them() -> None:
    rng = np.random.default_rng(2)
    vectors = {name: rng.normal(size=(1, 6)).tolist() for name in POLES.keys}
    x = rng.normal(size=(1, 6))
    coordinates = build_axes(states(vectors), TWO).coordinates(states({"x": x.tolist()}))
    poles = {name: np.array(value[0], dtype=np.float32) for name, value in vectors.items()}
    basis = np.stack([poles["kind"] - poles["cruel"], poles["able"] - poles["inept"]])
    theirs = np.linalg.lstsq(basis.T.astype(float), x[0].astype(np.float32).astype(float))[0]
    np.testing.assert_allclose(coordinates[0, :, 0], theirs, rtol=1e-5)


@given(st.lists(st.integers(-9, 9), min_size=9, max_size=9))
def test_the_coordinates_of_a_mean_are_the_mean_of_coordinates(numbers: list[int]) -> None:
    x = np.array(numbers, dtype=float).reshape(3, 1, 3).repeat(2, axis=1)
    separate = build_axes(POLES, TWO).coordinates(states({str(i): x[i].tolist() for i in range(3)}))
    mean = build_axes(POLES, TWO).coordinates(states({"mean": x.mean(axis=0).tolist()}))
    np.testing.assert_allclose(separate.mean(axis=2), mean[:, :, 0], atol=1e-5)


def test_a_broad_pole_weighs_words_not_dimensions() -> None:
    four = dictionary(
        ("Sociability", "social", "high"),
        ("Sociability", "friendly", "high"),
        ("Sociability", "distant", "low"),
        ("Morality", "good", "high"),
        ("Morality", "evil", "low"),
        ("Competence", "able", "high"),
        ("Competence", "inept", "low"),
    )
    zero: dict[str, list[list[float]]] = {term: [[0, 0, 0]] for term in four.terms}
    poles = {"social": [[3, 0, 0]], "friendly": [[3, 0, 0]], "able": [[0, 0, 1]]}
    axes = build_axes(states({**zero, **poles, "good": [[0, 3, 0]]}), four)
    assert [label for label in axes.labels if label[0] == "broad"] == [
        ("broad", "Warmth"),
        ("broad", "Competence"),
    ]
    # the high pole of warmth is (2, 1, 0), the mean of three words
    coordinates = axes.coordinates(states({"x": [[4, 2, 0]]}))
    np.testing.assert_allclose(coordinates[0, :2, 0], [2, 0], atol=1e-12)


def test_senses_without_state_are_left_out() -> None:
    more = dictionary(*TWO.senses.select("dimension", "term", "direction").rows(),
                      ("Skill", "deft", "high"))  # fmt: skip
    axes = build_axes(POLES, more)
    np.testing.assert_array_equal(axes.inverse, build_axes(POLES, TWO).inverse)


def test_a_pole_without_any_state_is_refused() -> None:
    more = dictionary(*TWO.senses.select("dimension", "term", "direction").rows(),
                      ("Status", "rich", "high"), ("Status", "poor", "low"))  # fmt: skip
    with pytest.raises(InputError, match="no state of any high word of Status"):
        build_axes(POLES, more)


def test_axes_that_are_one_are_refused() -> None:
    twin = dictionary(
        ("Kindness", "kind", "high"),
        ("Kindness", "cruel", "low"),
        ("Goodness", "kind", "high"),
        ("Goodness", "cruel", "low"),
    )
    with pytest.raises(InputError, match="layer 0: the poles of Kindness, Goodness span 1 of 2"):
        build_axes(POLES, twin)


def test_states_of_another_model_are_refused() -> None:
    with pytest.raises(InputError, match="states of 1 layers, 3 wide; the poles have 2, 3 wide"):
        build_axes(POLES, TWO).coordinates(states({"x": [[1, 2, 3]]}))


def random_states(words: int = 20, width: int = 8) -> HiddenStates:
    values = np.random.default_rng(0).normal(3, 1, size=(words, 2, width)).astype(np.float32)
    keys = tuple(str(word) for word in range(words))
    return HiddenStates(keys, ("0", "1"), values, np.ones(words, dtype=np.int64))


@pytest.mark.parametrize(("k", "words"), [(1, 20), (3, 20), (3, 6)])
def test_projections_on_the_leading_eigenvectors_are_gone(k: int, words: int) -> None:
    """Eigenvectors of the covariance; ours are of the products of words where these are few."""
    original = random_states(words)
    reduced = remove_components(original, k)
    for layer in range(2):
        x = original.values[:, layer].astype(float)
        leading = np.linalg.eigh(np.cov(x.T))[1][:, -k:]
        remainder = x - (x - x.mean(axis=0)) @ leading @ leading.T
        np.testing.assert_allclose(reduced.values[:, layer], remainder, atol=1e-5)


def test_no_component_gives_the_same_states_and_the_mean_stays() -> None:
    original = random_states()
    assert remove_components(original, 0) is original
    reduced = remove_components(original, 4)
    np.testing.assert_allclose(reduced.values.mean(axis=0), original.values.mean(axis=0), atol=1e-5)
    assert reduced.keys == original.keys


def test_components_are_removed_one_after_another() -> None:
    twice = remove_components(remove_components(random_states(), 1), 2)
    np.testing.assert_allclose(
        twice.values, remove_components(random_states(), 3).values, atol=1e-4
    )


def test_components_may_be_those_of_other_states() -> None:
    """Taken out of parts by the components of the whole, parts are those of the whole."""
    original = random_states()
    part = HiddenStates(
        original.keys[:3], original.layers, original.values[:3], original.counts[:3]
    )
    reduced = remove_components(part, 2, of=original)
    np.testing.assert_allclose(reduced.values, remove_components(original, 2).values[:3], atol=1e-5)
    with pytest.raises(InputError, match="another width"):
        remove_components(part, 2, of=random_states(width=7))


def test_all_components_or_more_are_refused() -> None:
    remove_components(random_states(words=5), 3)
    with pytest.raises(InputError, match="components 4: states of 5 words vary in no more"):
        remove_components(random_states(words=5), 4)
    with pytest.raises(InputError, match="components -1"):
        remove_components(random_states(), -1)
