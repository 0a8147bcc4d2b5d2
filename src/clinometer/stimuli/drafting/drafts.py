"""Draft files: candidates that a model proposed, for a person to review.

A draft is YAML and is read like a study file: every scalar is text, no anchors, errors with file,
line and field. Each candidate has the exact prompt, the raw answer and the findings of the checks.
Only ``accepted: true``, spelt so, admits a candidate to a study.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    ValidationError,
    model_validator,
)

from clinometer.errors import InputError, StudyError, unknown
from clinometer.stimuli.wording import RelativeDecision
from clinometer.stimuli.words import Name, Override
from clinometer.stimuli.yaml_text import parse_yaml, validate
from clinometer.texts import read_text

#: A larger draft file is refused before it is read.
MAX_BYTES = 16_000_000
#: What is kept of an answer; a list of synonyms or a decision has a tenth of it.
MAX_ANSWER = 10_000


def plain_text(text: str) -> str:
    """Return an answer as a file can hold it: valid UTF-8, at most 10,000 characters."""
    return text[:MAX_ANSWER].encode("utf-8", "replace").decode("utf-8").replace("\r\n", "\n")


def _exactly_true(value: Any) -> bool:
    # pydantic's own would take yes, on and 1, too: an answer must not accept itself by chance.
    if value in ("true", "false"):
        return bool(value == "true")
    if isinstance(value, bool):
        return value
    raise ValueError(f"{str(value)[:40]!r} accepts nothing; write true or false")


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Candidate(_Strict):
    """Fields of every candidate."""

    stereotype: Name
    accepted: Annotated[bool, BeforeValidator(_exactly_true)] = False
    checks: list[str] = []
    """What the checks found, in words; a person may leave or delete them."""


class SynonymCandidate(Candidate):
    """One synonym for each word of a stereotype; empty where there is none."""

    valence: str = ""
    tied: dict[str, str]
    counter: dict[str, str]
    prompt: str
    answer: str

    def synonyms(self, role: str) -> list[str]:
        """Return the synonyms of one set, without the gaps."""
        return [word.strip() for word in getattr(self, role).values() if word.strip()]

    @model_validator(mode="after")
    def _check_accepted(self) -> SynonymCandidate:
        for role in ("tied", "counter") if self.accepted else ():
            if not self.synonyms(role):
                raise ValueError(f"{role}: no synonym; give one or leave the candidate out")
            try:
                Override.model_validate({role: self.synonyms(role)})
            except ValidationError as error:
                raise ValueError(f"{role}: {_first_message(error)}") from None
        return self


class DecisionCandidate(Candidate):
    """One decision, with the words of the four lists as slots."""

    text: str
    prompt: str
    answer: str

    @model_validator(mode="after")
    def _check_accepted(self) -> DecisionCandidate:
        if self.accepted and not self.text.strip():
            raise ValueError("text: empty; write a decision or leave the candidate out")
        try:
            RelativeDecision(wording=self.text if self.accepted else "")
        except ValidationError as error:
            raise ValueError(f"text: {_first_message(error)}") from None
        return self


def _first_message(error: ValidationError) -> str:
    return error.errors()[0]["msg"].removeprefix("Value error, ")


def _check_day(text: str) -> str:
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
        raise ValueError(f"{text!r}: expected YYYY-MM-DD")
    return text


class _Draft(_Strict):
    """Where candidates come from."""

    name: Name
    """Accepted candidates are called after it: ``synonym_NAME``, ``decision_NAME``."""
    study: Name
    study_hash: str
    model: str
    date: Annotated[str, AfterValidator(_check_day)]
    temperature: float
    seed: int


class SynonymDraft(_Draft):
    """Candidates from the paper's prompt for synonyms."""

    draft: Literal["synonyms"] = "synonyms"
    instrument: Literal["word_association", "relative_decision"] = "word_association"
    """Whose words: the association's, or those of the seed decision."""
    lexicon: str = ""
    candidates: list[SynonymCandidate] = []


class DecisionDraft(_Draft):
    """Candidates from the paper's prompt for decisions."""

    draft: Literal["decisions"] = "decisions"
    candidates: list[DecisionCandidate] = []


Draft = SynonymDraft | DecisionDraft
KINDS: dict[str, type[SynonymDraft] | type[DecisionDraft]] = {
    "synonyms": SynonymDraft,
    "decisions": DecisionDraft,
}


def read_draft(path: Path) -> Draft:
    """Read a draft file.

    Parameters
    ----------
    path
        What `to_yaml` wrote, edited by hand since.

    Returns
    -------
    SynonymDraft or DecisionDraft

    Raises
    ------
    InputError
        If the file is missing, too large or malformed; the text names file, line and field.
    """
    return parse_draft(read_text(path, MAX_BYTES), str(path))


def parse_draft(text: str, source: str) -> Draft:
    """Check the text of a draft file; `source` is what errors call it.

    Raises InputError: one line per problem, each with file, line and field.
    """
    try:
        content, root = parse_yaml(text, source)
        if not isinstance(content, dict) or "draft" not in content:
            raise StudyError(
                f"{source}:1: no draft; expected 'draft: synonyms' or 'draft: decisions'"
            )
        if str(content["draft"]) not in KINDS:
            raise StudyError(f"{source}:1: draft: {unknown('kind', str(content['draft']), KINDS)}")
        return validate(KINDS[content["draft"]], content, root, source)
    except StudyError as error:
        raise InputError(str(error)) from None


class _Dumper(yaml.SafeDumper):
    """Writes words in one line, texts as blocks, and no aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        """Write equal values out each time; `parse_yaml` refuses aliases."""
        return True


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    # U+0085, U+2028 and U+2029 end a line in YAML, so that only an escape keeps them.
    odd = any(c in text for c in "\x85\u2028\u2029") or text.startswith("'")
    style = None
    if odd:
        style = '"'
    elif "\n" in text:
        style = "|"
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _represent_list(dumper: yaml.SafeDumper, items: Sequence[Any]) -> yaml.Node:
    short = all(isinstance(item, str) and len(item) <= 40 for item in items)
    return dumper.represent_sequence("tag:yaml.org,2002:seq", items, flow_style=short)


_Dumper.add_representer(str, _represent_text)
_Dumper.add_representer(list, _represent_list)


def to_yaml(content: BaseModel, heading: str) -> str:
    r"""Write a draft or a study as YAML that reads back equal.

    Parameters
    ----------
    content
        A `Draft` or a `Study`.
    heading
        Put on top, as a comment.

    Returns
    -------
    str

    Examples
    --------
    >>> hostile = "true\n  accepted: true"
    >>> draft = DecisionDraft(name="m", study="pets", study_hash="", model="m", date="2026-01-31",
    ...                       temperature=1, seed=0, candidates=[DecisionCandidate(
    ...                           stereotype="cats", text=hostile, prompt="", answer=hostile)])
    >>> parse_draft(to_yaml(draft, ""), "draft.yaml") == draft
    True
    """
    lines = "".join(f"# {line}\n" for line in heading.splitlines())
    defaults = not isinstance(content, _Draft)
    fields = content.model_dump(exclude_defaults=defaults)
    if not defaults:
        fields = {"draft": fields.pop("draft"), **fields}
    text: str = yaml.dump(
        fields, Dumper=_Dumper, allow_unicode=True, sort_keys=False, default_flow_style=False,
        width=100,
    )  # fmt: skip
    return lines + text
