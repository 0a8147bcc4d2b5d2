"""Free text: the published wording; rules read the answer.

For replication: prompts are those of the papers.
"""

from __future__ import annotations

from clinometer.modes.mode import TEXT, Mode, read_text, text_settings

MODE = Mode(
    "free",
    "the published wording, answered in free text",
    TEXT,
    read_text,
    text_settings,
    place=1,
)
