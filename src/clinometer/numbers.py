"""How a number, an interval, a share and a p value are written, wherever a reader meets them.

Pages, terminals, Markdown, dossiers and the formats of others all write them with these functions.
What is missing is "n/a" unless its place says otherwise. A minus is a true one, not a hyphen.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from typing import Literal


def as_number(value: object) -> float | None:
    """Return a finite number as one; None for anything else that a file or a server may hold."""
    # To Python a truth value is an integer; here it is no number.
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:  # an integer of more than 308 digits
        return None


#: What stands where there is no value.
MISSING = "n/a"


def number(value: float | None, digits: int = 2, *, missing: str = MISSING) -> str:
    """Write a number with so many digits after its point."""
    return _fixed(value, digits, "", missing)


def signed(value: float | None, digits: int = 2, *, missing: str = MISSING) -> str:
    """Write a number with its sign, as differences are; 0 has none."""
    return _fixed(value, digits, "+", missing)


def _fixed(value: float | None, digits: int, sign: str, missing: str) -> str:
    if value is None or value != value:  # NaN alone differs from itself
        return missing
    text = f"{value:{sign}.{digits}f}"
    # Rounded to 0, a number has no sign.
    text = text.lstrip("+-") if float(text) == 0 else text
    return text.replace("-", "−")


def interval(low: float | None, high: float | None, digits: int = 2) -> str:
    """Write an interval; "n/a" where an end is missing."""
    if low is None or high is None:
        return MISSING
    return f"{number(low, digits)} to {number(high, digits)}"


def bracketed(
    value: float | None,
    low: float | None,
    high: float | None,
    digits: int = 2,
    write: Callable[[float | None, int], str] = number,
) -> str:
    """Write a number, by `signed` a difference, with its interval in brackets where it has one."""
    has_interval = low is not None and high is not None
    ends = f" [{interval(low, high, digits)}]" if has_interval else ""
    return f"{write(value, digits)}{ends}"


def percent(share: float | None, digits: int = 0) -> str:
    """Write a share in per cent."""
    return MISSING if share is None else f"{100 * share:.{digits}f}%"


def percent_interval(low: float | None, high: float | None, digits: int = 0) -> str:
    """Write an interval of shares in per cent; "n/a" where an end is missing."""
    if low is None or high is None:
        return MISSING
    return f"{percent(low, digits)} to {percent(high, digits)}"


def p_value(p: float | None) -> str:
    """Write a p value to three digits."""
    if p is None:
        return MISSING
    return "< .001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def count(value: int | None) -> str:
    """Write a number of things."""
    return MISSING if value is None else str(value)


def thousands(value: int | None) -> str:
    """Write a number of things that may be many, with commas."""
    return MISSING if value is None else f"{value:,}"


def many(value: int | str) -> str:
    """Write a number of things that may be very many: above 15 digits, as a power of ten."""
    exact = Decimal(value)
    if exact < 10**15:
        return f"{int(exact):,}"
    digits, power = f"{exact:.1e}".split("e+")
    return f"{digits} × 10^{power}"


def out_of(part: int | None, whole: int | None) -> str:
    """Write how many things of how many."""
    return f"{count(part)} / {count(whole)}"


def yes_no(value: bool | None) -> str:
    """Write whether something holds; nothing where it is not known."""
    return "" if value is None else "yes" if value else "no"


def plain_text(value: object) -> str:
    """Write a text; nothing where there is none."""
    return "" if value is None else str(value)


Format = Literal["number", "signed", "share", "p", "count", "thousands", "yes_no", "text"]

#: How values of a column are written, by what its declaration says.
FORMATS: dict[Format, Callable[..., str]] = {
    "number": number,
    "signed": signed,
    "share": percent,
    "p": p_value,
    "count": count,
    "thousands": thousands,
    "yes_no": yes_no,
    "text": plain_text,
}
