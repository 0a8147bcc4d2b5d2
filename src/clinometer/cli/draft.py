"""``clinometer draft``: a model proposes stimuli, a person reviews them."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clinometer.cli.options import (
    FILE,
    MODEL,
    NEW,
    TEMPERATURE,
    all_options,
    build_budget,
    build_connection,
    choice,
    connection_options,
)
from clinometer.cli.output import echo, progress_bar, remark
from clinometer.errors import BudgetError, ExitCode, InputError, ModelError
from clinometer.texts import write_text

if TYPE_CHECKING:
    from clinometer.asking.sessions import Outcome
    from clinometer.stimuli import Study
    from clinometer.stimuli.drafting import Draft

#: A prompt, its subject, and its answer.
PromptAnswer = tuple[str, Any, str]

HEADING = """Candidates proposed by a model; none of them is in a study yet.
Read each candidate and its checks, edit it if needed, and set 'accepted: true' to accept it.
Then run: clinometer draft accept {file} --study {study} --out NEW.yaml"""

FORCE = click.option("--force", is_flag=True, help="Overwrite an existing file.")

_options = all_options([
    click.option("--study", "study_name", default="bai2025",
                 metavar="NAME|FILE", help="Study to propose stimuli for."),
    click.option("--stereotypes", metavar="A,B", help="Only these stereotypes.  [default: all]"),
    click.option("--out", type=NEW, help="Draft file.  [default: STUDY-KIND-NAME.yaml]"),
    FORCE,
    click.option("--name",
                 help="Suffix of the names of accepted candidates.  [default: from the model]"),
    click.option("--seed", default=0, help="Another seed asks all prompts again."),
    TEMPERATURE,
    click.option("--answer-tokens", default=1024,
                 help="Longest answer, in tokens (max_tokens of the provider)."),
    connection_options,
])  # fmt: skip


@click.group("draft")
def draft_command() -> None:
    """Ask a model to propose stimuli; accept them into a new study.

    The prompts are those of Bai et al. (2025, SI sections E and G). Candidates are written to a
    draft file with automatic checks. Set 'accepted: true' there for those that may enter a study.
    """


@draft_command.command("synonyms")
@click.argument("model", type=MODEL, metavar="MODEL")
@choice("--instrument", ["word_association", "relative_decision"], help="Whose words.")
@click.option("--count", default=1, help="Answers per stereotype.")
@click.option(
    "--lexicon", type=FILE, help="Valence ratings, such as NRC VAD, to check changes of valence."
)
@_options
def synonyms(model: str, instrument: str, count: int, lexicon: Path | None, **options: Any) -> None:
    """Ask MODEL for a synonym of each word of each stereotype."""
    from clinometer.stimuli import drafting
    from clinometer.words.lexicons import read_valence

    valences = None
    if lexicon:
        valences = drafting.Lexicon.from_ratings(lexicon.name, read_valence(lexicon))
    study, keys = _select(options, count)
    words = {key: drafting.seed_words(study, key, instrument) for key in keys}
    prompts = [(drafting.synonym_prompt(words[key]), key) for key in keys for _ in range(count)]

    def build(head: dict[str, Any], answers: Sequence[PromptAnswer]) -> Draft:
        """Return a draft of the words that were proposed."""
        candidates = [
            drafting.synonym_candidate(key, words[key], prompt, answer, valences)
            for prompt, key, answer in answers
        ]
        source = lexicon.name if lexicon else ""
        content = {"instrument": instrument, "lexicon": source, "candidates": candidates}
        return drafting.SynonymDraft.model_validate({**head, **content})

    _draft("synonyms", model, study, prompts, build, options)


@draft_command.command("decisions")
@click.argument("model", type=MODEL, metavar="MODEL")
@click.option("--count", default=3, help="Prompts per stereotype.")
@click.option(
    "--examples", default=3, help="Example decisions in a prompt, including the stereotype's own."
)
@_options
def decisions(model: str, count: int, examples: int, **options: Any) -> None:
    """Ask MODEL for decisions like those of the study."""
    from clinometer.stimuli import drafting

    if examples < 1:
        raise InputError(f"examples {examples}: at least 1")
    study, keys = _select(options, count)
    ask = partial(drafting.decision_question, study, examples=examples, seed=options["seed"])
    questions = [ask(key, number=number) for key in keys for number in range(count)]
    prompts = [(question.prompt, question) for question in questions]

    def build(head: dict[str, Any], answers: Sequence[PromptAnswer]) -> Draft:
        """Return a draft of the decisions that were proposed, of which an answer may have more."""
        candidates = []
        for _, question, answer in answers:
            candidates += drafting.decision_candidates(question, answer, study)
        return drafting.DecisionDraft.model_validate({**head, "candidates": candidates})

    _draft("decisions", model, study, prompts, build, options)


@draft_command.command("accept")
@click.argument("drafts", nargs=-1, required=True, metavar="DRAFT…", type=FILE)
@click.option(
    "--study",
    "study_name",
    metavar="NAME|FILE",
    help="Study the drafts were made from.  [default: named in the draft]",
)
@click.option(
    "--out",
    type=NEW,
    required=True,
    help="File of the new study; the study has the name of the file.",
)
@FORCE
@click.option(
    "--other-version",
    is_flag=True,
    help="Also accept drafts made from another version of the study.",
)
def accept(
    drafts: tuple[Path, ...], study_name: str | None, out: Path, force: bool, other_version: bool
) -> None:
    """Write a new study: STUDY plus the accepted candidates of the drafts."""
    from clinometer.stimuli import drafting, load_study, shipped_studies, study_hash

    if out.suffix not in (".yaml", ".yml"):
        raise InputError(f"{out}: a study file ends in .yaml or .yml")
    if out.stem in shipped_studies():
        raise InputError(f"{out}: {out.stem} is the name of a shipped study; choose another")
    drafts_by_path = {str(path): drafting.read_draft(path) for path in drafts}
    if out.resolve() in [path.resolve() for path in drafts]:
        raise InputError(f"{out}: is a draft; choose another file")
    _refuse_existing(out, force)
    study = load_study(study_name or next(iter(drafts_by_path.values())).study)
    grown = drafting.accept(study, drafts_by_path, out.stem, other_version=other_version)
    names = ", ".join(path.name for path in drafts)
    heading = f"{study.name} ({study_hash(study)}) and what was accepted of {names}."
    write_text(out, drafting.to_yaml(grown.study, heading))
    for line in grown.added:
        echo(line)
    for note in grown.notes:
        echo(f"note: {note}", err=True)
    total = sum(len(draft.candidates) for draft in drafts_by_path.values())
    echo(f"{len(grown.added)} of {total} candidates accepted: {out}")


def _select(options: dict[str, Any], count: int) -> tuple[Study, list[str]]:
    """Load the study and select its stereotypes."""
    from clinometer.contracts.catalogue import instrument
    from clinometer.stimuli import load_study

    if count < 1:
        raise InputError(f"count {count}: at least 1")
    study = load_study(options["study_name"])
    return study, instrument("word_association").select(study, options["stereotypes"])[0]


def _draft(
    kind: str,
    model: str,
    study: Study,
    prompts: Sequence[tuple[str, Any]],
    build: Callable[[dict[str, Any], Sequence[PromptAnswer]], Draft],
    options: dict[str, Any],
) -> None:
    """Ask a model prompts, each with its subject; build a draft from the answers and write it.

    Exits with 1 if prompts are unanswered, with 130 if the user stopped.
    """
    from clinometer.stimuli.drafting import to_yaml

    head = _head(study, model, options)
    out = options["out"] or Path(f"{study.name}-{kind}-{head['name']}.yaml")
    _refuse_existing(out, options["force"])
    outcome, answers = _ask(model, [prompt for prompt, _ in prompts], out, options)
    unanswered = answers.count(None)
    if unanswered == len(answers):
        reason = outcome.stopped_by or "no answer"
        raise BudgetError(f"{reason}: nothing was asked, nothing written")
    answered = []
    for (prompt, subject), answer in zip(prompts, answers, strict=True):
        if answer is not None:
            answered.append((prompt, subject, answer))
    draft = build(head, answered)
    write_text(out, to_yaml(draft, HEADING.format(file=out, study=options["study_name"])))
    clear = sum(not candidate.checks for candidate in draft.candidates)
    echo(f"{len(draft.candidates)} candidates, {clear} without findings: {out}")
    if unanswered:
        reason = outcome.stopped_by or f"{outcome.errors} failed ({outcome.last_error})"
        remark(f"{unanswered} of {len(answers)} prompts left: {reason}")
        is_stopped = outcome.stopped_by == "interrupted"
        sys.exit(ExitCode.STOPPED if is_stopped else ExitCode.NOT_COMPLETE)


def _head(study: Study, model: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return the head of a draft: the source of its candidates."""
    from clinometer.stimuli import study_hash

    # It becomes a part of names in a study, and of the draft's file.
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


def _refuse_existing(out: Path, force: bool) -> None:
    """Refuse a file that exists, or has no folder, before a model is asked."""
    if out.exists() and not force:
        raise InputError(f"{out}: exists; give another --out, or --force to write over it")
    if not out.parent.is_dir():
        raise InputError(f"{out.parent}: no such folder")


def _ask(
    name: str, prompts: Sequence[str], out: Path, options: dict[str, Any]
) -> tuple[Outcome, list[str | None]]:
    """Ask all prompts that have no answer yet; answers are kept in the folder of the draft.

    Returns an answer for each prompt, or None if it has none.
    """
    import polars as pl

    from clinometer.asking.sessions import ask_models
    from clinometer.models.opening import Generation, open_models
    from clinometer.modes.free import MODE
    from clinometer.results import TRIALS
    from clinometer.results.records import Journal

    generation = Generation(options["temperature"], 1.0, options["answer_tokens"])
    models = open_models([name], generation, build_connection(options))
    trial_ids = []
    rows = []
    for number, prompt in enumerate(prompts):
        trial_id = _name_prompt(number, prompt, options)
        trial_ids.append(trial_id)
        # A seed each: the same prompt asked twice should have two answers.
        trial = {"trial_id": trial_id, "prompt": prompt, "seed": options["seed"] + number}
        rows.append({"instrument": "draft", "mode": MODE.name, "attributes": [], **trial})
    trials = pl.DataFrame(rows, schema=TRIALS)
    folder = out.with_name(f"{out.name}.answers")
    folder.mkdir(exist_ok=True)
    # The first prompt is asked alone: a wrong key then costs one call.
    first = ask_models(lambda: [trials.head(1)], models, folder, build_budget(options))
    if first.errors:
        raise ModelError(f"{name}: {first.last_error}")
    with progress_bar(len(prompts)) as advance:
        budget = build_budget(options)  # anew: the call before does not count
        outcome = ask_models(lambda: [trials], models, folder, budget, on_progress=advance)
    responses = {answer["trial_id"]: answer.get("response") for answer in Journal(folder, name)}
    return outcome, [responses.get(trial_id) for trial_id in trial_ids]


def _name_prompt(number: int, prompt: str, options: dict[str, Any]) -> str:
    """Return the id of a prompt, from everything that determines its answer."""
    # With another setting it is another prompt, so that it is asked again.
    settings = (options["seed"], options["temperature"], options["answer_tokens"], prompt)
    digest = hashlib.sha256(repr(settings).encode()).hexdigest()
    return f"draft.{number:05d}.{digest[:16]}"
