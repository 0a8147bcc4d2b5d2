"""States on disk, so that a model reads the same contexts once.

A file is named for the model's fingerprint (weights, revision, precision, what its last layer
is), its layers, and the contexts; whatever changes one of them makes another file. It is
safetensors with a tensor ``values``, terms × layers × width, and ``counts``; the keys are in its
metadata. A file is written whole or not at all; a broken one is made anew.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from clinometer.errors import ClinometerWarning, InputError
from clinometer.models.libraries import require_libraries
from clinometer.results.tables import need_columns
from clinometer_measures.states.readers.states import HiddenStates, Reader
from clinometer_measures.states.tables import CONTEXTS

__all__ = ["read_states", "store_path"]

#: Counts up when the files, or how states are read, change.
LAYOUT = 1


def read_states(reader: Reader, contexts: pl.DataFrame, store: Path | None = None) -> HiddenStates:
    """Read states of terms in contexts, or take them from the store.

    Parameters
    ----------
    reader
        The model.
    contexts
        Columns CONTEXTS.
    store
        A folder; None: nothing is kept.

    Returns
    -------
    HiddenStates

    Raises
    ------
    InputError
        If contexts are malformed, or the folder cannot be written.
    ModelError
        If the model cannot be read.
    """
    if store is None:
        return reader.read(contexts)
    require_libraries(reader.name, "safetensors")
    path = store_path(reader, contexts, store)
    stored = _load(path, reader.layers) if path.is_file() else None
    if stored is not None:
        return stored
    with _refuse_unwritable(store):  # first, because reading may take hours
        store.mkdir(parents=True, exist_ok=True)
    states = reader.read(contexts)
    with _refuse_unwritable(store):
        _save(states, path)
    return states


def store_path(reader: Reader, contexts: pl.DataFrame, store: Path) -> Path:
    """Name the file of some contexts' states, whether or not it is there."""
    need_columns(contexts, list(CONTEXTS), "contexts")
    digest = hashlib.sha256(json.dumps([LAYOUT, reader.fingerprint, *reader.layers]).encode())
    # As JSON, so that no two tables run together into the same bytes.
    for row in contexts.select(list(CONTEXTS)).iter_rows():
        digest.update(json.dumps(row).encode())
    return store / f"states-{digest.hexdigest()[:32]}.safetensors"


@contextmanager
def _refuse_unwritable(store: Path) -> Iterator[None]:
    """Raise InputError if the folder cannot be written."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or error
        raise InputError(f"store {store}: {reason}; name a folder that can be written") from None


def _save(states: HiddenStates, path: Path) -> None:
    """Write a file of states, whole or not at all."""
    from safetensors.numpy import save_file

    metadata = {"keys": json.dumps(states.keys), "layers": json.dumps(states.layers)}
    tensors: dict[str, NDArray[Any]] = {"values": states.values, "counts": states.counts}
    # Beside the file, not in the system's folder: a file moves at once only within a disk.
    with tempfile.TemporaryDirectory(prefix=".clinometer-", dir=path.parent) as folder:
        save_file(tensors, Path(folder) / path.name, metadata=metadata)
        os.replace(Path(folder) / path.name, path)


def _load(path: Path, layers: tuple[str, ...]) -> HiddenStates | None:
    """Load stored states; None, with a warning, where the file is broken."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata()
            states = HiddenStates(
                tuple(json.loads(metadata["keys"])),
                tuple(json.loads(metadata["layers"])),
                np.asarray(file.get_tensor("values"), dtype=np.float32),
                np.asarray(file.get_tensor("counts"), dtype=np.int64),
            )
        if states.layers == layers:
            return states
    except (SafetensorError, InputError, OSError, KeyError, TypeError, ValueError):
        pass
    warning = f"{path}: not a file of states as they were written; made anew"
    warnings.warn(warning, ClinometerWarning, stacklevel=3)
    return None
