"""What a function of an instrument raised: it costs what the function makes, and is named.

Instruments come from packages of others too, and a run that is paid for must not lose its tables or
its page to one of their functions.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

from clinometer.errors import ClinometerWarning, one_line


def place_of(function: str | Callable[..., Any]) -> str:
    """Return ``module:function``; of a partial, that of its function."""
    if isinstance(function, str):
        return function
    if isinstance(function, partial):
        return place_of(function.func)
    name = getattr(function, "__qualname__", type(function).__qualname__)
    return f"{function.__module__}:{name}"


def name_failure(function: str | Callable[..., Any], error: Exception) -> str:
    """Return what a function raised, and warn of it.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     name_failure("warmth.section:draw", KeyError("mean"))
    "warmth.section:draw failed (KeyError: 'mean')"
    """
    failure = f"{place_of(function)} failed ({type(error).__name__}: {one_line(error)})"
    warnings.warn(failure, ClinometerWarning, stacklevel=2)
    return failure
