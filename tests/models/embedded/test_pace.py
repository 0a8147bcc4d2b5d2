"""How long the embedded model is expected to take."""

import pytest

from clinometer.asking.budget import Cost
from clinometer.models.embedded import pace


def test_time_grows_with_tokens_and_with_a_slower_machine(monkeypatch):
    monkeypatch.setattr(pace, "_operations_per_second", lambda: 1e11)
    monkeypatch.setattr(pace, "fastest_dtype", lambda: "float32")
    seconds = pace.expected_seconds(200_000, 0)
    assert seconds == pytest.approx(2.1 * 2 * 106e6 * 96_000 / 1e11)
    assert pace.expected_seconds(0, 100) == pytest.approx(2.1 * 2 * 106e6 * 100 / 1e11)
    monkeypatch.setattr(pace, "_operations_per_second", lambda: 5e10)
    assert pace.expected_seconds(200_000, 0) == pytest.approx(2 * seconds)
    monkeypatch.setattr(pace, "fastest_dtype", lambda: "bfloat16")
    assert seconds < pace.expected_seconds(200_000, 0) < 2 * seconds


def test_the_machine_is_measured():
    assert 1e8 < pace._operations_per_second() < 1e14


def test_only_the_embedded_model_has_minutes():
    assert Cost.from_tokens("clinometer/smollm2", (1, 1), (1000, 0)).seconds > 0
    assert Cost.from_tokens("openai/gpt-4o", (1, 1), (1000, 0)).seconds is None
