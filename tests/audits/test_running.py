"""A run tells its watcher of each step, in order; what stops it early, and what it then leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from clinometer.asking.budget import Budget
from clinometer.asking.plan import Plan
from clinometer.asking.sessions import Outcome
from clinometer.audits import running
from clinometer.audits.auditing import audit
from clinometer.audits.running import Asking, Run, Watcher
from clinometer.audits.sizes import PlanOptions, sized_plan
from clinometer.directory.results import read_results
from clinometer.errors import BudgetError, InputError, ModelError, NoAnswerError
from clinometer.families import Family
from clinometer.models.opening import Connection

MODEL = "simulated/leaning"
AGE_OPTIONS = PlanOptions(studies=["bai2025"], instruments=["word_association"], stereotypes="age")


class Listener(Watcher):
    """Writes down what it is told; a family that cannot measure is left out."""

    def __init__(self) -> None:
        self.steps: list[str] = []

    def on_opened(self) -> None:
        self.steps.append("opened")

    @contextmanager
    def watch_asking(self, plan: Plan) -> Iterator[Any]:
        self.steps.append("asking")
        yield lambda model, answer: None

    def on_outcome(self, outcome: Outcome) -> None:
        self.steps.append(f"asked {outcome.answered} of {outcome.trials}")

    def on_judged(self, judge: str, outcome: Outcome) -> None:
        self.steps.append(f"judged by {judge}")

    def on_tabulated(self) -> None:
        self.steps.append("tabulated")

    def on_measuring(self, family: Family, models: Sequence[str]) -> None:
        self.steps.append(f"measuring {family.name}")

    def on_left_out(self, family: Family, error: ModelError) -> None:
        self.steps.append(f"left out {family.name}: {error}")


@pytest.fixture
def broken_family(monkeypatch: pytest.MonkeyPatch) -> None:
    """A family that can measure every model, and fails at it."""

    def fail(directory: Path, connection: Connection) -> None:
        raise ModelError("no weights")

    family = Family(
        *("broken", "Broken", "broken.json", "nothing", dict, lambda _: None, lambda _: []),
        measure_again=lambda *_: None,
        measurable=lambda models: models,
        measure=fail,
    )
    monkeypatch.setattr(running, "families", lambda: {"broken": family})


def run_in(directory: Path, **options: Any) -> Run:
    return Run(sized_plan("quick", [MODEL], AGE_OPTIONS), directory, **options)


def test_the_steps_of_a_run_are_told_in_order(tmp_path: Path, broken_family: None) -> None:
    listener = Listener()
    outcome = run_in(tmp_path / "r", with_families=True).complete(listener)
    assert outcome.complete
    assert listener.steps == [
        *("opened", "asking", f"asked {outcome.trials} of {outcome.trials}", "tabulated"),
        *("measuring broken", "left out broken: no weights"),
    ]


def test_without_a_watcher_a_family_that_fails_ends_the_run_after_the_tables(
    tmp_path: Path, broken_family: None
) -> None:
    with pytest.raises(ModelError, match="no weights"):
        audit(MODEL, directory=tmp_path / "r", options=AGE_OPTIONS)
    assert read_results(tmp_path / "r").estimates.height
    assert audit(
        MODEL, directory=tmp_path / "r", options=AGE_OPTIONS, profile=False
    ).estimates.height


def test_an_unfinished_audit_has_its_tables_and_measures_no_further(
    tmp_path: Path, broken_family: None
) -> None:
    with pytest.raises(BudgetError, match="5 of .* trials answered"):
        audit(MODEL, directory=tmp_path / "r", options=AGE_OPTIONS, asking=Asking(budget=Budget(5)))
    results = read_results(tmp_path / "r")
    assert results.table("progress")["n_answered"].to_list() == [5]
    assert results.estimates.height


def test_a_run_without_any_answer_writes_no_tables(tmp_path: Path) -> None:
    listener = Listener()
    run = run_in(tmp_path / "r", asking=Asking(budget=Budget(0)))
    assert run.complete(listener).answered == 0
    assert "tabulated" not in listener.steps
    assert not list((tmp_path / "r").glob("*.parquet"))


def test_a_run_whose_server_is_not_there_leaves_nothing(
    tmp_path: Path, serve: Callable[..., Any]
) -> None:
    server = serve()
    server.close()
    run = Run(sized_plan("quick", ["openai-api/loop/m"], AGE_OPTIONS), tmp_path / "r")
    place = server.url.removesuffix("/v1")
    with pytest.raises(NoAnswerError, match=f"openai-api/loop/m: {place}: nothing listens there;"):
        run.complete()
    assert not (tmp_path / "r").exists()


def test_a_run_of_errors_alone_writes_no_tables_and_is_continued(
    tmp_path: Path, serve: Callable[..., Any]
) -> None:
    server = serve(lambda _: (503, {"error": {"message": "loading"}}))
    plan = sized_plan("quick", ["openai-api/loop/m"], AGE_OPTIONS)
    run = Run(plan, tmp_path / "r", Asking(Connection(max_retries=0)))
    outcome = run.complete()
    assert outcome.errors == outcome.trials and not (tmp_path / "r" / "estimates.parquet").exists()
    assert server.url.removesuffix("/v1") in (outcome.last_error or "")
    server.reply = server.chat
    assert run.complete().complete and (tmp_path / "r" / "estimates.parquet").exists()


def test_malformed_sizes_are_refused_before_anything_is_asked(tmp_path: Path) -> None:
    (tmp_path / "sizes.yaml").write_text("[1, 2]")
    with pytest.raises(InputError, match="expected lines of 'model: billions of parameters'"):
        audit(MODEL, directory=tmp_path / "r", options=AGE_OPTIONS, sizes=tmp_path / "sizes.yaml")
    assert not (tmp_path / "r").exists()


def test_a_judge_that_cannot_close_its_answers_is_refused_before_anything_is_asked(
    tmp_path: Path,
) -> None:
    asking = Asking(judge="hf/judge")
    with pytest.raises(InputError, match="does not close answers to a JSON schema"):
        audit(MODEL, directory=tmp_path / "r", options=AGE_OPTIONS, asking=asking)
    assert not (tmp_path / "r").exists()
