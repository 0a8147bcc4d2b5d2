"""``tiltmeter draft``: a model proposes stimuli, a person reviews them."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tiltmeter.cli.options import all_options, build_connection, connection_options

if TYPE_CHECKING:
    from tiltmeter.stimuli import Study
    from tiltmeter.stimuli.drafting import Draft

__all__ = ["command"]

F = TypeVar("F", bound=Callable[..., Any])

HEADING = """Candidates proposed by a model; none of them is in a study yet.
Read each candidate and its checks, edit it if needed, and set 'accepted: true' to accept it.
Then run: tiltmeter draft accept {file} --study {study} --out NEW.yaml"""

_OPTIONS = [
    click.option("--study", "study_name", default="bai2025", show_default=True,
                 metavar="NAME|FILE", help="Study to propose stimuli for."),
    click.option("--stereotypes", metavar="A,B", help="Only these stereotypes.  [default: all]"),
    click.option("--out", type=click.Path(path_type=Path, dir_okay=False),
                 help="Draft file.  [default: STUDY-KIND-NAME.yaml]"),
    click.option("--force", is_flag=True, help="Overwrite an existing file."),
    click.option("--name",
                 help="Suffix of the names of accepted candidates.  [default: from the model]"),
    click.option("--seed", type=int, default=0, show_default=True,
                 help="Another seed asks all prompts again."),
    click.option("--temperature", type=float, default=1.0, show_default=True,
                 help="Sampling temperature."),
    click.option("--answer-tokens", type=int, default=1024, show_default=True,
                 help="Longest answer, in tokens (max_tokens of the provider)."),
]  # fmt: skip


def _options(function: F) -> F:
    return all_options(_OPTIONS)(connection_options(function))


@click.group("draft")
def command() -> None:
    """Ask a model to propose stimuli; accept them into a new study.

    The prompts are those of Bai et al. (2025, SI sections E and G). Candidates are written to a
    draft file with automatic checks. Set 'accepted: true' there for those that may enter a study.
    """


@command.command("synonyms")
@click.argument("model", metavar="MODEL")
@click.option("--instrument", type=click.Choice(["word_association", "relative_decision"]),
              default="word_association", show_default=True, help="Whose words.")  # fmt: skip
@click.option("--count", type=int, default=1, show_default=True, help="Answers per stereotype.")
@click.option("--lexicon", type=click.Path(path_type=Path),
              help="Valence ratings, such as NRC VAD, to check changes of valence.")  # fmt: skip
@_options
def synonyms(model: str, instrument: str, count: int, lexicon: Path | None, **options: Any) -> None:
    """Ask MODEL for a synonym of each word of each stereotype."""
    from tiltmeter.stimuli import drafting

    valences = drafting.read_lexicon(lexicon) if lexicon else None
    study, keys = _asked_of(options, count)
    words = {key: drafting.seed_words(study, key, instrument) for key in keys}
    asked = [(key, drafting.synonym_prompt(words[key])) for key in keys for _ in range(count)]
    head = _head(study, model, options)
    out = _new_file(options, f"{study.name}-synonyms-{head['name']}.yaml")
    answers = _ask(model, [prompt for _, prompt in asked], out, options)
    candidates = [
        drafting.synonym_candidate(key, words[key], prompt, answer, valences)
        for (key, prompt), answer in zip(asked, answers.texts, strict=True)
        if answer is not None
    ]
    scale = (
        f"{valences.source}, from {valences.scale[0]:g} to {valences.scale[1]:g}"
        if valences
        else ""
    )
    draft = drafting.SynonymDraft.model_validate(
        {**head, "instrument": instrument, "lexicon": scale, "candidates": candidates}
    )
    _write(draft, out, answers, options)


@command.command("decisions")
@click.argument("model", metavar="MODEL")
@click.option("--count", type=int, default=3, show_default=True, help="Prompts per stereotype.")
@click.option("--examples", type=int, default=3, show_default=True,
              help="Example decisions in a prompt, including the stereotype's own.")  # fmt: skip
@_options
def decisions(model: str, count: int, examples: int, **options: Any) -> None:
    """Ask MODEL for decisions like those of the study."""
    from tiltmeter.errors import InputError
    from tiltmeter.stimuli import drafting

    if examples < 1:
        raise InputError(f"examples {examples}: at least 1")
    study, keys = _asked_of(options, count)
    asked = [
        drafting.decision_question(
            study, key, number=number, examples=examples, seed=options["seed"]
        )
        for key in keys
        for number in range(count)
    ]
    head = _head(study, model, options)
    out = _new_file(options, f"{study.name}-decisions-{head['name']}.yaml")
    answers = _ask(model, [question.prompt for question in asked], out, options)
    candidates = [
        candidate
        for question, answer in zip(asked, answers.texts, strict=True)
        if answer is not None
        for candidate in drafting.decision_candidates(question, answer, study)
    ]
    draft = drafting.DecisionDraft.model_validate({**head, "candidates": candidates})
    _write(draft, out, answers, options)


@command.command("accept")
@click.argument("drafts", nargs=-1, required=True, metavar="DRAFT…",
                type=click.Path(path_type=Path))  # fmt: skip
@click.option("--study", "study_name", metavar="NAME|FILE",
              help="Study the drafts were made from.  [default: named in the draft]")  # fmt: skip
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), required=True,
              help="File of the new study; the study has the name of the file.")  # fmt: skip
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@click.option("--other-version", is_flag=True,
              help="Also accept drafts made from another version of the study.")  # fmt: skip
def accept(
    drafts: tuple[Path, ...], study_name: str | None, out: Path, force: bool, other_version: bool
) -> None:
    """Write a new study: STUDY plus the accepted candidates of the drafts."""
    from tiltmeter.errors import InputError
    from tiltmeter.stimuli import drafting, load_study, shipped_studies, study_hash

    if out.suffix not in (".yaml", ".yml"):
        raise InputError(f"{out}: a study file ends in .yaml or .yml")
    if out.stem in shipped_studies():
        raise InputError(f"{out}: {out.stem} is the name of a shipped study; choose another")
    read = {str(path): drafting.read_draft(path) for path in drafts}
    if out.resolve() in [path.resolve() for path in drafts]:
        raise InputError(f"{out}: is a draft; choose another file")
    _refuse_existing(out, force)
    study = load_study(study_name or next(iter(read.values())).study)
    grown = drafting.accept(study, read, out.stem, other_version=other_version)
    listed = ", ".join(path.name for path in drafts)
    heading = f"{study.name} ({study_hash(study)}) and what was accepted of {listed}."
    _save(out, drafting.to_yaml(grown.study, heading))
    for line in grown.added:
        click.echo(line)
    for note in grown.notes:
        click.echo(f"note: {note}", err=True)
    total = sum(len(draft.candidates) for draft in read.values())
    click.echo(f"{len(grown.added)} of {total} candidates accepted: {out}")


def _asked_of(options: dict[str, Any], count: int) -> tuple[Study, list[str]]:
    """Load the study and select its stereotypes."""
    from tiltmeter.errors import InputError
    from tiltmeter.instruments.word_association import INSTRUMENT
    from tiltmeter.stimuli import load_study

    if count < 1:
        raise InputError(f"count {count}: at least 1")
    study = load_study(options["study_name"])
    return study, INSTRUMENT.select(study, options["stereotypes"])[0]


def _head(study: Study, model: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return the head of a draft: where its candidates come from."""
    from datetime import UTC, datetime

    from tiltmeter.errors import InputError
    from tiltmeter.stimuli import study_hash

    slug = re.sub(r"[^a-z0-9]+", "_", model.rpartition("/")[2].lower()).strip("_")
    name = options["name"] or slug[:40] or "model"
    if not re.fullmatch(r"[a-z0-9][a-z0-9_]{0,39}", name):
        raise InputError(f"name {name!r}: use lower-case letters, digits and '_', at most 40")
    return {
        "name": name,
        "study": study.name,
        "study_hash": study_hash(study),
        "model": model,
        "date": datetime.now(UTC).date().isoformat(),
        "temperature": options["temperature"],
        "seed": options["seed"],
    }


def _new_file(options: dict[str, Any], default: str) -> Path:
    out = options["out"] or Path(default)
    _refuse_existing(out, options["force"])
    return Path(out)


def _refuse_existing(out: Path, force: bool) -> None:
    from tiltmeter.errors import InputError

    if out.exists() and not force:
        raise InputError(f"{out}: exists; give another --out, or --force to write over it")
    if not out.parent.is_dir():
        raise InputError(f"{out.parent}: no such folder")


@dataclass
class _Answers:
    """Answers by prompt; None for a prompt without an answer."""

    texts: list[str | None]
    stopped_by: str | None = None
    errors: list[str] = field(default_factory=list)


def _ask(name: str, prompts: Sequence[str], out: Path, options: dict[str, Any]) -> _Answers:
    """Ask all prompts that have no answer yet; answers are kept beside the draft."""
    import polars as pl

    from tiltmeter.asking.budget import Budget
    from tiltmeter.asking.sessions import ask_models
    from tiltmeter.cli.options import progress_bar
    from tiltmeter.errors import ModelError
    from tiltmeter.models.opening import Generation, open_models
    from tiltmeter.modes.free import MODE
    from tiltmeter.results import TRIALS
    from tiltmeter.results.records import Journal

    generation = Generation(options["temperature"], 1.0, options["answer_tokens"])
    models = open_models([name], generation, build_connection(options))
    ids = [_name_prompt(i, prompt, options) for i, prompt in enumerate(prompts)]
    rows = [
        {"trial_id": one, "instrument": "draft", "mode": MODE.name, "prompt": prompt,
         "attributes": [], "seed": options["seed"] + i}
        for i, (one, prompt) in enumerate(zip(ids, prompts, strict=True))
    ]  # fmt: skip
    trials = pl.DataFrame([{**dict.fromkeys(TRIALS), **row} for row in rows], schema=TRIALS)
    kept = out.with_name(f"{out.name}.answers")
    kept.mkdir(exist_ok=True)
    limits = (options["max_calls"], options["max_tokens"])
    # The first by itself: a wrong key costs one call.
    first = ask_models(trials.head(1), models, kept, Budget(*limits))
    if first.errors:
        raise ModelError(f"{name}: {first.last_error}")
    with progress_bar(len(prompts)) as advance:
        outcome = ask_models(trials, models, kept, Budget(*limits), on_progress=advance)
    responses = {answer["trial_id"]: answer.get("response") for answer in Journal(kept, name)}
    errors = [outcome.last_error] * outcome.errors if outcome.last_error else []
    return _Answers([responses.get(one) for one in ids], outcome.stopped_by, errors)


def _name_prompt(i: int, prompt: str, options: dict[str, Any]) -> str:
    """Name a prompt by everything that determines its answer, so that it is asked once."""
    import hashlib

    settings = (options["seed"], options["temperature"], options["answer_tokens"], prompt)
    digest = hashlib.sha256(repr(settings).encode()).hexdigest()
    return f"draft.{i:05d}.{digest[:16]}"


def _write(draft: Draft, out: Path, answers: _Answers, options: dict[str, Any]) -> None:
    """Write the draft and print the outcome; exit with 1 if prompts are left, 130 if stopped."""
    from tiltmeter.errors import BudgetError
    from tiltmeter.stimuli.drafting import to_yaml

    answered = sum(text is not None for text in answers.texts)
    if not answered:
        raise BudgetError(
            f"{answers.stopped_by or 'no answer'}: nothing was asked, nothing written"
        )
    heading = HEADING.format(file=out, study=options["study_name"])
    _save(out, to_yaml(draft, heading))
    clear = sum(not candidate.checks for candidate in draft.candidates)
    click.echo(f"{len(draft.candidates)} candidates, {clear} without findings: {out}")
    left = len(answers.texts) - answered
    if left:
        why = answers.stopped_by or f"{len(answers.errors)} failed ({answers.errors[0]})"
        click.echo(f"tiltmeter: {left} of {len(answers.texts)} prompts left: {why}", err=True)
        sys.exit(130 if answers.stopped_by == "interrupted" else 1)


def _save(out: Path, text: str) -> None:
    """Write a file completely or not at all."""
    part = out.with_name(f"{out.name}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(out)
