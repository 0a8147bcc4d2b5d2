"""The errors Clinometer raises for its users.

::

    ClinometerError          anything a user can put right; `ExitCode.INPUT` unless said
    ├── StudyError          a study file or a name in it (file, line and field in the text)
    ├── InputError          a table, file or parameter given to a function
    ├── ModelError          a model that cannot be opened or cannot do what a mode asks
    │   └── NoAnswerError   a model that gives no answer, or a run without any: 3
    ├── PlanError           a results directory that belongs to another plan
    └── BudgetError         a run that reached, or would exceed, its budget: `NOT_COMPLETE`

    ClinometerWarning        nothing is wrong, but a user should know

Every message names the parameter, the value, what is allowed and the next step.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from enum import IntEnum

#: Names that an error lists, and characters of a name and of another error that it shows, at most.
_MOST, _LONGEST, _LINE = 10, 40, 200

#: The ends of a scale in the name of a column of ratings.
_NUMBER = r"([+−-]?\d+(?:\.\d+)?)"
_RANGE = re.compile(rf"[\s_(]+{_NUMBER}\s*(?:to|–|-|_)\s*{_NUMBER}\)?\s*", re.IGNORECASE)


class ExitCode(IntEnum):
    """How a command ends; each number means the same in every command."""

    DONE = 0
    """All was done; a gate passes, an archive is as stated."""
    FAIL = 1
    """A gate fails, or an archive differs. Nothing else: what was measured is at fault."""
    INPUT = 2
    """An option, a file, a name or a model has to be put right."""
    NOT_COMPLETE = 3
    """Inconclusive, or not complete: a limit was reached, answers are missing, nothing works."""
    UNEXPECTED = 4
    """Anything else, which is a defect of Clinometer."""
    STOPPED = 130
    """The user stopped it; the same command continues."""


class ClinometerError(Exception):
    """Anything a user can put right."""


class StudyError(ClinometerError):
    """A study file is malformed, or lacks the name asked for."""


class InputError(ClinometerError):
    """A table, file or parameter is not what the function takes."""


class ModelError(ClinometerError):
    """A model cannot be reached, or cannot do what the response mode asks."""


class NoAnswerError(ModelError):
    """A model gives no answer; what was asked is kept, and can be continued."""


class PlanError(ClinometerError):
    """A results directory holds another plan."""


class BudgetError(ClinometerError):
    """The run reached its budget; it can be resumed with a larger one."""


class ClinometerWarning(UserWarning):
    """Nothing is wrong, but a user should know; the command line says it in one line."""


def as_names(kind: str, given: object) -> tuple[str, ...]:
    """Read one name, or a list of them.

    Raises
    ------
    InputError
        If they are no names, or there are none.
    """
    listed = (given,) if isinstance(given, str) or not isinstance(given, Iterable) else tuple(given)
    for name in listed:
        if not isinstance(name, str):
            raise InputError(f"{kind}: expected a name or a list of names, not {name!r}")
    if not listed:
        raise InputError(f"{kind}: none given")
    return listed


def unknown(kind: str, name: str, known: Iterable[str]) -> str:
    """Say that `name` is not known and which names come near.

    Parameters
    ----------
    kind
        What is named, in the singular: ``"stereotype"``.
    name
        The name that was given.
    known
        The names that exist.

    Returns
    -------
    str
        One line for an error message.
    """
    names = list(known)
    near = difflib.get_close_matches(name.lower()[:_LONGEST], names, n=3, cutoff=0.5)
    hint = f"did you mean {', '.join(near)}?" if near else f"known: {shortened(names)}"
    return f"unknown {kind} {_cut(name)!r}; {hint}"


def shortened(names: Sequence[str], most: int = _MOST) -> str:
    """List names for an error, each in one line: the first, and how many there are."""
    more = f", … ({len(names)})" if names[most:] else ""
    return ", ".join(_cut(" ".join(name.split())) for name in names[:most]) + more


def _cut(name: str) -> str:
    """Return a name that is no longer than 40 letters, with a mark where it ends too soon."""
    if len(name) <= _LONGEST:
        return name
    start, space, _ = name[: _LONGEST + 1].rpartition(" ")
    return f"{start if space else name[:_LONGEST]}…"


def one_line(text: object) -> str:
    """Return the first line of a text, such as another library's error, cut after 200 letters."""
    first = next(iter(str(text).splitlines()), "")
    return first if len(first) <= _LINE else f"{first[:_LINE]}…"


def find_scale(columns: Sequence[str], name: str) -> tuple[str, float, float] | None:
    """Return the column of ratings that states its scale, with the lowest and highest rating.

    None if no column does. Raises InputError if the scale ends before it begins.

    Examples
    --------
    >>> find_scale(["group", "Rating (1 to 7)"], "rating")
    ('Rating (1 to 7)', 1.0, 7.0)
    """
    for column in columns:
        if not column.lower().startswith(name):
            continue
        if match := _RANGE.fullmatch(column[len(name) :]):
            low, high = (float(text.replace("−", "-")) for text in match.groups())
            if low >= high:
                raise InputError(f"column {column!r}: a scale that ends before it begins")
            return column, low, high
    return None
