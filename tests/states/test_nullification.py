"""All-but-the-top: what is taken out, and what stays."""

from __future__ import annotations

import numpy as np
import pytest

from tiltmeter.errors import InputError
from tiltmeter.models.readers.states import States
from tiltmeter.states.nullification import remove_components


def states(words: int = 20, width: int = 8) -> States:
    values = np.random.default_rng(0).normal(3, 1, size=(words, 2, width)).astype(np.float32)
    keys = tuple(str(word) for word in range(words))
    return States(keys, ("0", "1"), values, np.ones(words, dtype=np.int64))


@pytest.mark.parametrize(("k", "words"), [(1, 20), (3, 20), (3, 6)])
def test_projections_on_the_leading_eigenvectors_are_gone(k: int, words: int) -> None:
    """Eigenvectors of the covariance; ours are of the products of words where these are few."""
    given = states(words)
    found = remove_components(given, k)
    for layer in range(2):
        x = given.values[:, layer].astype(float)
        leading = np.linalg.eigh(np.cov(x.T))[1][:, -k:]
        left = x - (x - x.mean(axis=0)) @ leading @ leading.T
        np.testing.assert_allclose(found.values[:, layer], left, atol=1e-5)


def test_no_component_gives_the_same_states_and_the_mean_stays() -> None:
    given = states()
    assert remove_components(given, 0) is given
    found = remove_components(given, 4)
    np.testing.assert_allclose(found.values.mean(axis=0), given.values.mean(axis=0), atol=1e-5)
    assert found.keys == given.keys


def test_components_are_removed_one_after_another() -> None:
    twice = remove_components(remove_components(states(), 1), 2)
    np.testing.assert_allclose(twice.values, remove_components(states(), 3).values, atol=1e-4)


def test_components_may_be_those_of_other_states() -> None:
    """Taken out of parts by the components of the whole, parts are those of the whole."""
    given = states()
    part = States(given.keys[:3], given.layers, given.values[:3], given.counts[:3])
    found = remove_components(part, 2, of=given)
    np.testing.assert_allclose(found.values, remove_components(given, 2).values[:3], atol=1e-5)
    with pytest.raises(InputError, match="another width"):
        remove_components(part, 2, of=states(width=7))


def test_all_components_or_more_are_refused() -> None:
    remove_components(states(words=5), 3)
    with pytest.raises(InputError, match="components 4: states of 5 words vary in no more"):
        remove_components(states(words=5), 4)
    with pytest.raises(InputError, match="components -1"):
        remove_components(states(), -1)
