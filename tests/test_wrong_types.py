"""A value of the wrong type is answered in a sentence, and what is printed stays short."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tiltmeter as tm

MISTAKES: list[tuple[Callable[[], Any], str]] = [
    (lambda: tm.audit(5), "models: expected a name or a list of names, not 5"),  # type: ignore[arg-type]
    (lambda: tm.audit([]), "models: none given"),
    (lambda: tm.ask(_trials(), [3]), "models: expected a name or a list of names, not 3"),  # type: ignore[list-item]
    (lambda: tm.ask(5, "tiltmeter/smollm2"), "trials: int; expected a polars or pandas frame"),  # type: ignore[arg-type]
    (lambda: tm.draw("bai2025", 7), "design: expected tiltmeter.Design"),  # type: ignore[arg-type]
    (lambda: tm.draw("bai2025", stereotypes=3), "stereotype: expected a name"),  # type: ignore[arg-type]
    (lambda: tm.networks.measure_bias("x.csv"), "network 'x.csv': expected a Network"),  # type: ignore[arg-type]
    (lambda: tm.networks.activate("x.csv", ["old"]), "network 'x.csv'"),  # type: ignore[arg-type]
    (lambda: tm.networks.describe("x.csv"), "network 'x.csv'"),  # type: ignore[arg-type]
    (lambda: tm.networks.stream("x.csv", "old", "age"), "network 'x.csv'"),  # type: ignore[arg-type]
    (lambda: tm.networks.overlap("x.csv", "y.csv"), "network 'x.csv'"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("call", "sentence"), MISTAKES)
def test_a_wrong_type_is_named(call: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(tm.TiltmeterError) as raised:
        call()
    assert str(raised.value).startswith(sentence)


def test_what_is_printed_in_a_notebook_is_short() -> None:
    study, dictionary = tm.load_study("bai2025"), tm.states.read_dictionary()
    assert repr(study) == str(study) == "<Study 'bai2025': 21 stereotypes>"
    assert repr(tm.INSTRUMENTS["chained_task"]) == "<Instrument 'chained_task'>"
    assert len(repr(dictionary)) < 300


def _trials() -> Any:
    return tm.draw("bai2025", tm.Design(iterations=2), stereotypes="age")
