"""Calls in a provider's batches, as inspect's option `batch` asks them.

inspect gathers the calls that wait into batches and looks for their ends. It keeps the ids of
batches in memory: a process that ends while it waits cannot fetch what it has paid for, and a
repeated command asks, and pays, again. `asking.batches` has no such limit, for the providers that
it serves.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from typing import Any

from clinometer.errors import ModelError
from clinometer.models.providers import PROVIDERS, find_provider

#: Calls to a model that wait for batches at the same time, where no other number is given.
WAITING = 10_000

#: Seconds between two lines that say how batches stand.
SAY_EVERY_S = 60.0

_log = logging.getLogger(__name__)


def refuse_unbatched(models: Iterable[str]) -> None:
    """Raise ModelError for the first model whose provider inspect asks no batches of."""
    for model in models:
        provider = find_provider(model)
        if provider.batch:
            continue
        allowed = ", ".join(name for name, listed in PROVIDERS.items() if listed.batch)
        hint = "; clinometer plan and clinometer submit ask its batches" * provider.batch_files
        raise ModelError(f"{model}: no batches while a command waits; allowed: {allowed}{hint}")


def say_progress() -> None:
    """Have inspect say how batches stand in the log, not on standard output every few seconds."""
    from inspect_ai.model._providers.util import batch_log

    batch_log.set_batch_log_callback(_log.warning)
    batch_log.set_batch_status_callback(_Status().say)


class _Status:
    """Says how batches stand when it has changed, at most every minute."""

    def __init__(self) -> None:
        self.last = ""
        self.since = 0.0

    def say(self, status: Any) -> None:
        """Say a `BatchStatus` of inspect."""
        text = (
            f"{status.batch_count:,} batches: {status.pending_requests:,} calls wait, "
            f"{status.completed_requests:,} answered, {status.failed_requests:,} failed"
        )
        now = time.monotonic()
        if status.batch_count and text != self.last and now - self.since >= SAY_EVERY_S:
            _log.warning("%s", text)
            self.last = text
            self.since = now
