"""The pytest plugin, in a session of its own."""

import subprocess
import sys

import pytest

TEST = """
def test_ships(clinometer_gate):
    assert clinometer_gate("a.parquet", "policy.yaml").outcome == "pass"

def test_does_not(clinometer_gate):
    clinometer_gate("b.parquet", "policy.yaml")

def test_open(clinometer_gate):
    clinometer_gate("c.parquet", "policy.yaml", inconclusive="skip")

def test_open_fails(clinometer_gate):
    clinometer_gate("c.parquet", "policy.yaml")
"""


@pytest.fixture
def session(make_run, tmp_path):
    for name, shift in (("a", 0.0), ("b", 0.6), ("c", 0.2)):
        make_run(name, shift).write_parquet(tmp_path / f"{name}.parquet")
    rules = "name: p\ncontrols: ignored\nrules:\n- {what: mean, level: model, at_most: 0.31}\n"
    (tmp_path / "policy.yaml").write_text(rules, encoding="utf-8")
    (tmp_path / "test_gate.py").write_text(TEST, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider"]
    return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)


def test_a_gate_is_a_test(session):
    assert "1 passed" in session.stdout and "2 failed" in session.stdout, session.stdout
    assert "1 skipped" in session.stdout
    assert "p: fail" in session.stdout and "p: inconclusive" in session.stdout
