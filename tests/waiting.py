"""Waits for conditions, and compares times with each other: no test counts seconds of a machine."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from threading import Event
from typing import Any

#: Seconds after which something hangs, whatever the machine.
HANGS_S = 3600


def until(condition: Callable[[], Any], process: Any = None) -> None:
    """Wait until a condition holds; a process that has ended before is an error."""
    hangs = time.monotonic() + HANGS_S
    while not condition():
        assert process is None or process.poll() is None, process.communicate()
        assert time.monotonic() < hangs
        Event().wait(0.01)


def grows_linearly(work: Callable[[int], object], size: int, least: int = 0) -> bool:
    """Whether four times as much takes four times as long, and not sixteen times.

    Times are of the processor, without what `least` takes, which is paid once. Other work on the
    machine may lengthen one of them: they are measured again before the answer is no.
    """
    for _ in range(5):
        once, short, long = (_seconds(work, n) for n in (least, size, 4 * size))
        if long - once <= 7 * max(short - once, 0) + 0.02:
            return True
    return False


def _seconds(work: Callable[[int], object], size: int) -> float:
    collects = gc.isenabled()
    gc.disable()  # its time grows with all that the tests hold
    try:
        begun = time.process_time()
        work(size)
        return time.process_time() - begun
    finally:
        if collects:
            gc.enable()
