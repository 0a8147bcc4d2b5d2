"""Whether statsmodels is installed, the library of the extra ``papers``.

It takes seconds to import, so that whoever calls it imports it inside a function.
"""

from __future__ import annotations

import importlib.util

from clinometer.errors import InputError

#: What a number that lacks the library has for a note.
NOT_INSTALLED = "needs statsmodels, not installed here; run: pip install 'clinometer[papers]'"


def has_statsmodels() -> bool:
    """Say whether statsmodels is installed, without importing it."""
    return importlib.util.find_spec("statsmodels") is not None


def require_statsmodels(analysis: str) -> None:
    """Check that statsmodels is installed.

    Raises InputError, which names the `analysis` that needs it and the extra, if it is not.
    """
    if not has_statsmodels():
        raise InputError(f"{analysis}: {NOT_INSTALLED}")
