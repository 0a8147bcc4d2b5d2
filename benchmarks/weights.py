"""Put the weights of a model in place: a GGUF file as a folder that ``hf/FOLDER`` reads.

``make models SOURCE=model.gguf SHA256=… FOLDER=models/name`` takes a file or an https address. The
file is used only if its hash is the one that is named; nothing of it is run. A folder that is there
is left as it is.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import urllib.request
from pathlib import Path

from clinometer.errors import ClinometerError, InputError
from clinometer.models.embedded.weights import convert_gguf
from clinometer.models.libraries import hash_file


def place(source: str, sha256: str, folder: Path) -> None:
    """Expand a GGUF file into a folder; raises InputError if its hash is another."""
    if folder.exists():
        print(f"{folder} is there")
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as part:
        gguf = Path(part) / "model.gguf"
        if source.startswith("https://"):
            with urllib.request.urlopen(source) as reply, gguf.open("wb") as file:
                shutil.copyfileobj(reply, file)
        elif "://" in source:
            raise InputError(f"source {source!r}: allowed are a file and an https address")
        elif not Path(source).is_file():
            raise InputError(f"source {source!r}: no such file")
        else:
            shutil.copyfile(source, gguf)
        if (found := hash_file(gguf)) != sha256.lower():
            raise InputError(
                f"{source}: SHA-256 is {found}, not {sha256}; nothing was put in place"
            )
        convert_gguf(gguf, Path(part) / "weights")
        os.replace(Path(part) / "weights", folder)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("usage: python -m benchmarks.weights SOURCE SHA256 FOLDER")
    try:
        place(*sys.argv[1:3], Path(sys.argv[3]))
    except (ClinometerError, OSError) as error:
        sys.exit(f"weights: {error}")
