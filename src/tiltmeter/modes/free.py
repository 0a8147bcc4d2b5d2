"""Free text: the published wording, and an answer that is read by rules.

For replication: the model is asked as the papers asked it.
"""

from __future__ import annotations

from tiltmeter.modes.mode import TEXT, Mode, ask_text

__all__ = ["MODE"]

MODE = Mode("free", "the published wording, answered in free text", TEXT, ask_text, place=1)
