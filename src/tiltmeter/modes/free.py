"""Free text: the published wording; rules read the answer.

For replication: prompts are those of the papers.
"""

from __future__ import annotations

from tiltmeter.modes.mode import TEXT, Mode, ask_text

__all__ = ["MODE"]

MODE = Mode("free", "the published wording, answered in free text", TEXT, ask_text, place=1)
