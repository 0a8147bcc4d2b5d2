"""The main functions: draw trials, ask models, audit. The command line calls them too."""

from __future__ import annotations

import json
import tempfile
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl

from clinometer.asking.claim import Claimant, claim, short_hash
from clinometer.asking.sessions import ask_models
from clinometer.audits.probing import replace_forced
from clinometer.audits.running import Asking, Run
from clinometer.audits.sizes import PlanOptions, sized_plan
from clinometer.audits.tabulating import ModelAnswers
from clinometer.contracts.catalogue import INSTRUMENTS
from clinometer.contracts.catalogue import instrument as find_instrument
from clinometer.contracts.design import Design
from clinometer.directory.results import Results, read_results
from clinometer.errors import BudgetError, ClinometerWarning, InputError, as_names
from clinometer.models.opening import Generation, open_models
from clinometer.modes.needs import refuse_unable
from clinometer.results import TRIALS, check
from clinometer.results.places import anywhere
from clinometer.results.tables import as_frame
from clinometer.stimuli import Study, load_study


def draw(
    study: str | Path | Study,
    design: Design | None = None,
    *,
    instrument: str = next(iter(INSTRUMENTS)),
    stereotypes: str | Sequence[str] | None = None,
    variations: str | Sequence[str] | None = None,
) -> pl.DataFrame:
    """Draw the trials of a study, the same for every model.

    Parameters
    ----------
    study
        A shipped name, the path of a study file, or a study.
    design
        Mode, iterations (trials per stereotype and wording), order, seed.
    instrument
        A key of `INSTRUMENTS`.
    stereotypes, variations
        Names, as a list or one text with commas. None: all stereotypes, and the default wordings.

    Returns
    -------
    polars.DataFrame
        Columns of `results.TRIALS`, a row per prompt.

    Raises
    ------
    StudyError, InputError
        If a name is unknown, or the instrument does not support the mode.

    Examples
    --------
    >>> trials = draw("bai2025", Design(iterations=2), stereotypes="age", variations="replication")
    >>> trials["order"].sort().to_list()
    ['default_first', 'marginalized_first']
    """
    design = Design() if design is None else design
    if not isinstance(design, Design):
        raise InputError(f"design: expected clinometer.Design(iterations=…, …), not {design!r}")
    return find_instrument(instrument).trials(
        load_study(study), design, stereotypes=stereotypes, variations=variations
    )


@dataclass(frozen=True)
class _Trials(Claimant):
    """The user's own trials, as the plan of a directory."""

    trials: pl.DataFrame
    models: Sequence[str]
    generation: Generation

    def file(self, out: Path) -> Path:
        """Return the path of the plan."""
        return out / "plan.json"

    def identity(self) -> dict[str, Any]:
        """Return what tells the plan from others: prompts, models and how they generate."""
        prompts = self.trials.select("trial_id", "prompt", "followup", "system").rows()
        return {
            "trials": short_hash(json.dumps(prompts)),
            "models": list(self.models),
            "generation": asdict(self.generation),
        }


@anywhere(directory=True)
def ask(
    trials: pl.DataFrame | Path | str,
    models: str | Sequence[str],
    *,
    directory: str | Path | None = None,
    generation: Generation | None = None,
    asking: Asking | None = None,
) -> pl.DataFrame:
    """Ask models to answer trials.

    Parameters
    ----------
    trials
        From `draw`; a polars or pandas frame, or the path of a table.
    models
        Inspect names: ``"openai/gpt-4o-mini"``, ``"clinometer/smollm2"``.
    directory
        Directory for answers; the same call again continues an interrupted run. None: answers are
        not kept.
    generation
        Temperature, top_p and the longest answer.
    asking
        Connection, limits and progress.

    Returns
    -------
    polars.DataFrame
        Columns of `results.RESPONSES`, a row per model and trial that was answered or failed.

    Raises
    ------
    ModelError
        If a model cannot be opened, or if all return only errors or do not support a response
        mode; where only some do, a warning names each.
    PlanError
        If the directory holds the answers to other trials.

    Examples
    --------
    >>> trials = draw("bai2025", Design(mode="forced", iterations=2), stereotypes="age")
    >>> responses = ask(trials, "clinometer/smollm2")  # doctest: +SKIP
    """
    names = as_names("models", models)
    frame = check(as_frame(trials, "trials"), TRIALS, "trials")
    plan = _Trials(frame, names, generation or Generation())
    asking = asking or Asking()
    refuse_unable(names, frame["mode"], frame["reasoning_effort"])
    models_by_name = open_models(names, plan.generation, asking.connection)
    with tempfile.TemporaryDirectory() as temporary:
        # Answers go through the files of a directory also where none is to be kept.
        out = Path(directory) if directory is not None else Path(temporary) / "answers"
        claim(out, plan, from_elsewhere=asking.from_elsewhere)
        outcome = ask_models(
            lambda: [frame],
            models_by_name,
            out,
            asking.budget,
            on_progress=asking.on_progress,
            prices=asking.prices,
        )
        for error in outcome.failed.values():
            warnings.warn(f"left out: {error}", ClinometerWarning, stacklevel=2)
        return pl.concat(ModelAnswers(out, name).join(frame) for name in names)


@anywhere(directory=True)
def audit(  # noqa: PLR0913 - the options of an audit
    models: str | Sequence[str],
    *,
    size: str = "quick",
    directory: str | Path | None = None,
    options: PlanOptions | None = None,
    asking: Asking | None = None,
    sizes: Path | None = None,
    profile: bool = True,
) -> Results:
    """Measure models: a battery of instruments with their controls, and all tables.

    Parameters
    ----------
    models
        Inspect names.
    size
        ``"quick"``, ``"standard"`` or ``"paper"``: sets instruments and number of trials.
    directory
        Results directory; by default named after the first model, under ``results``. The same call
        again continues an interrupted audit; nothing is asked twice.
    options
        Studies, instruments, modes and other parts of a plan; the size sets the rest.
    asking
        Connection, limits, progress and judge.
    sizes
        A YAML file of ``model: billions of parameters``, for the figure of sizes.
    profile
        Also measure what other families can of these models, such as their hidden states.

    Returns
    -------
    Results
        `write_report` writes its report.

    Raises
    ------
    ModelError, PlanError, InputError, StudyError
        Errors of `draw`, `ask`, `score` and `estimate`.
    BudgetError
        If a limit stopped the audit early, or a model of several failed; the tables of what there
        is are written, and the same call continues.

    Examples
    --------
    >>> results = audit("clinometer/smollm2")  # doctest: +SKIP
    >>> results.estimates.filter(level="model", method="clustered")  # doctest: +SKIP
    """
    names = as_names("models", models)
    plan = sized_plan(size, names, options or PlanOptions())
    out = Path(directory) if directory is not None else default_directory(names, size)
    command = f"cm.audit({names!r}, size={size!r})"
    asking = asking or Asking()
    plan = replace_forced(plan, out, asking)
    run = Run(plan, out, asking, sizes, with_families=profile, command=command)
    outcome = run.complete()
    if not outcome.complete:
        failed = "; ".join(outcome.failed.values())
        reason = outcome.stopped_by or failed or outcome.last_error or "unanswered trials"
        raise BudgetError(
            f"{out}: {outcome.answered:,} of {outcome.trials:,} trials answered ({reason}); the "
            "same call continues, nothing is asked twice"
        )
    return read_results(out)


def default_directory(models: Sequence[str], what: str) -> Path:
    """Name a results directory after the first model and the kind of run."""
    slug = models[0].replace("/", "-").replace(":", "-")
    suffix = f"-and-{len(models) - 1}-more" if len(models) > 1 else ""
    return Path("results") / f"{slug}{suffix}-{what}"
