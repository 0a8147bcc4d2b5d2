"""A value of the wrong type is answered in a sentence, and what is printed stays short."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import clinometer as cm

MISTAKES: list[tuple[Callable[[], Any], str]] = [
    (lambda: cm.audit(5), "models: expected a name or a list of names, not 5"),  # type: ignore[arg-type]
    (lambda: cm.audit([]), "models: none given"),
    (lambda: cm.ask(_trials(), [3]), "models: expected a name or a list of names, not 3"),  # type: ignore[list-item]
    (lambda: cm.ask(5, "clinometer/smollm2"), "trials: int; expected a polars or pandas frame"),  # type: ignore[arg-type]
    (lambda: cm.draw("bai2025", 7), "design: expected clinometer.Design"),  # type: ignore[arg-type]
    (lambda: cm.draw("bai2025", stereotypes=3), "stereotype: expected a name"),  # type: ignore[arg-type]
    (lambda: cm.networks.measure_bias("x.csv"), "network 'x.csv': expected a Network"),  # type: ignore[arg-type]
    (lambda: cm.networks.activate("x.csv", ["old"]), "network 'x.csv'"),  # type: ignore[arg-type]
    (lambda: cm.networks.describe("x.csv"), "network 'x.csv'"),  # type: ignore[arg-type]
    (lambda: cm.networks.stream("x.csv", "old", "age"), "network 'x.csv'"),  # type: ignore[arg-type]
    (lambda: cm.networks.overlap("x.csv", "y.csv"), "network 'x.csv'"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("call", "sentence"), MISTAKES)
def test_a_wrong_type_is_named(call: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(cm.ClinometerError) as raised:
        call()
    assert str(raised.value).startswith(sentence)


def test_what_is_printed_in_a_notebook_is_short() -> None:
    study, dictionary = cm.load_study("bai2025"), cm.states.read_dictionary()
    assert repr(study) == str(study) == "<Study 'bai2025': 21 stereotypes>"
    assert repr(cm.INSTRUMENTS["chained_task"]) == "<Instrument 'chained_task'>"
    assert len(repr(dictionary)) < 300


def _trials() -> Any:
    return cm.draw("bai2025", cm.Design(iterations=2), stereotypes="age")
