"""What a long benchmark has measured, kept so that one that was stopped continues.

It lies in ``~/.cache/clinometer/cries_wolf``, or in the folder that CLINOMETER_CRIES_WOLF names, by
a digest of what it depends on.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["keep"]


def keep(identity: str, name: str, make: Callable[[], Any]) -> Any:
    """Return what was kept under a name; what was not is made, and kept as JSON.

    `identity` is all that it depends on, as a text.
    """
    folder = _folder() / hashlib.sha256(identity.encode()).hexdigest()[:16]
    path = folder / f"{name}.json"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        path.with_suffix(".new").write_text(json.dumps(make()), encoding="utf-8")
        path.with_suffix(".new").replace(path)
    return json.loads(path.read_text(encoding="utf-8"))


def _folder() -> Path:
    named = os.environ.get("CLINOMETER_CRIES_WOLF")
    return Path(named) if named else Path.home() / ".cache" / "clinometer" / "cries_wolf"
