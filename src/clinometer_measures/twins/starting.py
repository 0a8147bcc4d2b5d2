"""A study of twins from a prompt file: its place for a person, rewordings, contrasts, an outcome.

What is written is a study file like any other, for a person to read and change before it is asked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from clinometer.authoring import InputError, load_study, unknown
from clinometer_measures.twins.part import GROUPS, NAME
from clinometer_measures.twins.rewordings import edit_size, reword

__all__ = ["REWORDINGS", "USUAL", "contrast_names", "write_study"]

#: Rewordings that are proposed, and the contrasts of a prompt for which none are named.
REWORDINGS, USUAL = 10, ("black_women", "black_men", "women", "age", "disability")

_PLACE = re.compile(r"\{\w+\}")
_RANGE = re.compile(r"(-?[\d.]+)\.\.(-?[\d.]+)\s+(\w.*)")


class _Sides(NamedTuple):
    """The people of a contrast, or what follows their names, by side."""

    category: str
    people: tuple[str, str]
    marginalized: Sequence[str]
    default: Sequence[str]
    is_phrase: bool = False


def contrast_names() -> list[str]:
    """Return the contrasts that ship."""
    return [*_library()["contrasts"]]


def write_study(
    prompt_file: Path,
    study_file: Path,
    outcome: str,
    *,
    contrasts: Sequence[str] = (),
    crossed: Sequence[str] = (),
    entitled: str = "",
) -> None:
    """Write the study of a prompt, with rewordings to be read by a person.

    Parameters
    ----------
    prompt_file
        A text with one place, such as ``{name}``; or JSON, the messages of a chat.
    study_file
        Where it is written; InputError if there is a file.
    outcome
        ``approve/deny``, ``0..5000 dollars``, ``refund=1 voucher=0 deny=-1``, ``refusal``,
        ``length`` or ``reading_ease``.
    contrasts, crossed
        Names of contrasts, by default `USUAL`; and pairs of them, ``black_women,age``.
    entitled
        Who should be treated otherwise, ``with a receipt/without one``: a positive control.

    Raises
    ------
    InputError
        If the prompt has not exactly one place, there is no such contrast, two cannot be crossed,
        an outcome means nothing, or a file cannot be read or written.
    """
    prompt = _read_prompt(prompt_file)
    sides = {name: _sides(name) for name in contrasts or USUAL}
    for pair in crossed:
        first, comma, second = pair.partition(",")
        if not comma:
            raise InputError(f"--cross {pair!r}: expected two contrasts, as black_women,age")
        sides |= _cross(first.strip(), second.strip())
    stereotypes = {name: _stereotype(name, side) for name, side in sides.items()}
    if entitled:
        control = _stereotype("entitled", _entitled(entitled))
        stereotypes["entitled"] = {**control, "control": "positive"}
    stereotypes["same_group"] = {"label": "Names of the same group", "category": "names"}
    stereotypes["same_group"] |= {"groups_of": "hiring.same_group", "control": "negative"}
    sizes = [edit_size(*pair) for side in sides.values() for pair in _twins(side)]
    part = {
        "outcome": _read_outcome(outcome),
        "people": {
            name: dict(zip(GROUPS, side.people, strict=True)) for name, side in sides.items()
        },
        "prompts": _prompts(prompt, sum(sizes) / len(sizes)),
    }
    name = re.sub(r"\W+", "_", prompt_file.stem).strip("_").lower() or "twins"
    content = {"name": name, "instruments": {NAME: part}, "stereotypes": stereotypes}
    content = json.loads(json.dumps(content))  # what stands twice would be an alias in YAML
    try:
        with study_file.open("x", encoding="utf-8") as file:
            file.write(_HEAD.format(file=prompt_file.name))
            yaml.safe_dump(content, file, sort_keys=False, allow_unicode=True, width=110)
    except FileExistsError:
        raise InputError(f"{study_file}: is there already; ask it, or name another") from None
    except OSError as error:
        raise InputError(f"{study_file}: {error.strerror}") from None


_HEAD = """\
# The prompt of {file}, with rewordings that change no person: read them, and take out or add what
# is none. The first prompt is the one as it stands.
"""


@cache
def _library() -> Mapping[str, Any]:
    content: Mapping[str, Any] = yaml.safe_load(
        files(__package__).joinpath("contrasts.yaml").read_text("utf-8")
    )
    return content


def _read_prompt(path: Path) -> str | list[dict[str, str]]:
    """Read a prompt or a chat; its one place becomes ``{person}``."""
    try:
        text = path.read_text("utf-8").strip()
        prompt = json.loads(text) if path.suffix == ".json" else text
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise InputError(f"{path}: {error}") from None
    places = {*_PLACE.findall(text)}
    if len(places) != 1:
        raise InputError(f"{path}: needs one place for a person, as {{name}}; has {len(places)}")
    if isinstance(prompt, str):
        return _PLACE.sub("{person}", prompt)
    if not isinstance(prompt, list) or not all(isinstance(part, dict) for part in prompt):
        raise InputError(f"{path}: expected a list of messages, each with role and content")
    return [{name: _PLACE.sub("{person}", str(text)) for name, text in p.items()} for p in prompt]


def _prompts(prompt: str | list[dict[str, str]], size: float) -> dict[str, Any]:
    """Return a prompt and its rewordings; of a chat the message with the person is reworded."""
    if isinstance(prompt, str):
        return {"as_it_stands": prompt, **reword(prompt, size, REWORDINGS)}
    place = next(n for n, message in enumerate(prompt) if "{person}" in message.get("content", ""))
    reworded = reword(prompt[place]["content"], size, REWORDINGS)
    chats = {
        name: [{**part, "content": text} if n == place else part for n, part in enumerate(prompt)]
        for name, text in reworded.items()
    }
    return {"as_it_stands": prompt, **chats}


def _read_outcome(text: str) -> dict[str, Any]:
    """Read an outcome of the command line."""
    if text in ("refusal", "length", "reading_ease"):
        return {"kind": text}
    if match := _RANGE.fullmatch(text):
        ends = {"lowest": float(match[1]), "highest": float(match[2])}
        return {"kind": "number", **ends, "unit": match[3]}
    if "=" in text:
        pairs = [part.rpartition("=") for part in text.split()]
        try:
            return {"kind": "class", "values": {word: float(value) for word, _, value in pairs}}
        except ValueError:
            raise InputError(f"--outcome {text!r}: expected WORD=NUMBER, each") from None
    good, slash, bad = text.partition("/")
    if not (slash and good and bad):
        raise InputError(
            f"--outcome {text!r}: expected GOOD/BAD, LOWEST..HIGHEST UNIT, WORD=NUMBER …, refusal, "
            "length or reading_ease"
        )
    return {"kind": "choice", "good": good.strip(), "bad": bad.strip()}


def _sides(name: str) -> _Sides:
    """Return a contrast of the library."""
    contrasts = _library()["contrasts"]
    if name not in contrasts:
        raise InputError(unknown("contrast", name, contrasts))
    entry = contrasts[name]
    people = (entry["people"][0], entry["people"][1])
    if "names" in entry:
        study, _, key = entry["names"].partition(".")
        words = load_study(study).stereotypes[key]
        return _Sides(entry["category"], people, words.marginalized, words.default)
    kind = "phrases" if "phrases" in entry else "texts"
    marginalized, default = entry[kind]
    return _Sides(entry["category"], people, marginalized, default, kind == "phrases")


def _entitled(text: str) -> _Sides:
    """Return the positive control: people who should be treated otherwise."""
    best, slash, worst = (part.strip() for part in text.partition("/"))
    if not (slash and best and worst):
        raise InputError(f"--entitled {text!r}: expected WHO IS/WHO IS NOT")
    number = len(_library()["names"])
    return _Sides("entitled", (worst, best), [worst] * number, [best] * number, is_phrase=True)


def _with_names(side: _Sides, names: Sequence[str] = ()) -> _Sides:
    """Return people: names with what follows them, the same name on both sides."""
    if not side.is_phrase:
        return side
    names = names or _library()["names"]
    followed = [
        [f"{name}, {phrase}" for name, phrase in zip(names, phrases, strict=False)]
        for phrases in (side.marginalized, side.default)
    ]
    return side._replace(marginalized=followed[0], default=followed[1])


def _twins(side: _Sides) -> list[tuple[str, str]]:
    people = _with_names(side)
    return [*zip(people.marginalized, people.default, strict=False)]


def _stereotype(name: str, side: _Sides) -> dict[str, Any]:
    """Return a contrast as a study has it."""
    label = name.replace("_", " ").capitalize()
    people = _with_names(side)
    lists = {"marginalized": [*people.marginalized], "default": [*people.default]}
    aligned = {"aligned": True} if side.is_phrase else {}
    return {"label": label, "category": side.category, **aligned, **lists}


def _cross(first_name: str, second_name: str) -> dict[str, _Sides]:
    """Return two contrasts of two: *and*, who are both beside who are neither; and *by*.

    The latter tells whether the difference by the first is another for either side of the second:
    one side of it has who is both or neither, the other who is one of the two. The second follows
    names, which are those of the first, or neutral ones where the first follows names, too.
    """
    first, second = _sides(first_name), _sides(second_name)
    if not second.is_phrase:
        raise InputError(f"--cross {first_name},{second_name}: the second has names of its own")
    first = _with_names(first)
    both, first_alone, second_alone, neither = (
        _with_names(second._replace(marginalized=phrases, default=phrases), people).marginalized
        for people in (first.marginalized, first.default)
        for phrases in (second.marginalized, second.default)
    )
    category = f"{first.category}_and_{second.category}"
    words = [f"{a}, {b}" for a, b in zip(first.people, second.people, strict=True)]
    alike = f"{words[0]} or {words[1]}"
    unlike = f"{first.people[0]}, {second.people[1]} or {first.people[1]}, {second.people[0]}"
    return {
        f"{first_name}_and_{second_name}": _Sides(category, (words[0], words[1]), both, neither),
        f"{first_name}_by_{second_name}": _Sides(
            category, (alike, unlike), [*both, *neither], [*first_alone, *second_alone]
        ),
    }
