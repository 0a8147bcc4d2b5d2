"""Open a model whose states are to be read, by its name.

- ``clinometer/smollm2``: the embedded model;
- ``hf/ORGANISATION/NAME`` or ``ORGANISATION/NAME``: on the hub;
- ``./folder`` or an absolute path: as transformers saves it;
- ``vectors.vec`` or ``vectors.vec.gz``: static word vectors, one layer (`vectors`);
- ``openai/MODEL``, ``openai-api/SERVICE/MODEL``: embeddings of a service, one layer.

A service does not show what is inside its model. Its one layer, "0", is the embedding of the
*whole context*, not of the term in it; so contexts of one word ("none") say most about terms.
Variables are inspect's: OPENAI_API_KEY and OPENAI_BASE_URL, or SERVICE_API_KEY and
SERVICE_BASE_URL.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import polars as pl
from numpy.typing import NDArray

from clinometer.errors import ModelError, unknown
from clinometer.models.embedded.weights import EMBEDDED_LIBRARIES, expand_weights, find_weights
from clinometer.models.libraries import require_libraries
from clinometer.models.providers import find_provider
from clinometer_measures.states.readers.pretrained import Loading, load_pretrained
from clinometer_measures.states.readers.states import HiddenStates, find_terms
from clinometer_measures.states.readers.transformer import TransformerReader
from clinometer_measures.states.readers.vectors import ENDINGS, WordVectors

__all__ = ["EmbeddingService", "Loading", "open_reader", "shows_states"]

#: The embedded model.
EMBEDDED = "clinometer/smollm2"


def open_reader(
    model: str, loading: Loading | None = None, folder: str | None = None
) -> TransformerReader | EmbeddingService | WordVectors:
    """Open a model.

    Parameters
    ----------
    model
        Its name, as above.
    loading
        How to load and read it; of services and of word vectors nothing of it applies.
    folder
        Where a model of the hub lies on this machine.

    Returns
    -------
    TransformerReader, EmbeddingService or WordVectors

    Raises
    ------
    ModelError
        If there is no such model, or its states cannot be read.
    """
    loading = loading or Loading()
    if model.endswith(ENDINGS):
        return WordVectors(model)
    provider = find_provider(model)
    rest = model.partition("/")[2]
    if provider.embeddings:
        return _open_service(model)
    if not model.strip() or (provider.states and not rest):
        raise ModelError(f"model {model!r}: expected hf/ORGANISATION/NAME or a folder")
    if provider.embedded:
        if model != EMBEDDED:
            raise ModelError(unknown("embedded model", model, [EMBEDDED]))
        require_libraries(model, *EMBEDDED_LIBRARIES)
        source = str(expand_weights(Path(find_weights())))
    else:
        source = folder or (rest if provider.states else os.path.expanduser(model))
    return TransformerReader(model, load_pretrained(model, source, loading), loading)


def shows_states(model: str) -> bool:
    """Tell by a model's name whether states of all layers can be read; nothing is opened.

    They can of the embedded model, models on the hub by ``hf/``, and folders.
    """
    return find_provider(model).states or model.startswith(("./", "/", "~"))


#: Contexts in a request: services that run one model take no more than 32.
CONTEXTS_PER_REQUEST = 32

MAX_RETRIES = 5
TIMEOUT_S = 120.0

OPENAI_URL = "https://api.openai.com/v1"


class EmbeddingService:
    """Reads embeddings of whole contexts from a service; the key enters no error and no record.

    The fingerprint knows the address and the model's name: what a service changes behind a name
    cannot be seen from here.
    """

    layers: tuple[str, ...] = ("0",)
    last = "unknown"

    def __init__(self, name: str, model: str, base_url: str, key: str) -> None:
        from openai import OpenAI

        self.name = name
        address = urlsplit(base_url)
        self._host = address.netloc.rpartition("@")[2]
        where = f"{self._host}{address.path.rstrip('/')} {model}"
        self.fingerprint = hashlib.sha256(where.encode()).hexdigest()
        self._model = model
        self._key = key
        self._client = OpenAI(
            base_url=base_url, api_key=key, max_retries=MAX_RETRIES, timeout=TIMEOUT_S
        )

    def read(self, contexts: pl.DataFrame) -> HiddenStates:
        """Embed contexts (columns CONTEXTS), equal ones once; rows of one key are averaged.

        Raises InputError if a term does not stand in its context (row, term and context are named),
        and ModelError if the service cannot be reached, refuses, or sends something else.
        """
        find_terms(contexts)
        texts = contexts["context"].unique(maintain_order=True).to_list()
        embeddings = self._embed_all(texts)
        row_by_text = {text: row for row, text in enumerate(texts)}
        by_key = contexts.group_by("key", maintain_order=True).agg("context")
        means: list[NDArray[np.float64]] = []
        counts: list[int] = []
        for listed in by_key["context"]:
            rows = [row_by_text[text] for text in listed]
            means.append(embeddings[rows].mean(axis=0))
            counts.append(len(rows))
        values = np.stack(means)[:, None].astype(np.float32)  # (keys, 1 layer, width)
        return HiddenStates(
            tuple(by_key["key"]), self.layers, values, np.array(counts, dtype=np.int64)
        )

    def _embed_all(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Embed texts, some in a request, and check what came: shape (texts, width)."""
        parts: list[NDArray[np.float64]] = []
        for start in range(0, len(texts), CONTEXTS_PER_REQUEST):
            parts.append(self._embed(texts[start : start + CONTEXTS_PER_REQUEST]))
        if len({part.shape[1] for part in parts}) != 1:
            raise ModelError(f"model {self.name!r}: embeddings of different widths; ask again")
        embeddings = np.concatenate(parts)
        if not embeddings.any() or not np.isfinite(embeddings).all():
            raise ModelError(
                f"model {self.name!r}: layer 0 is all zero or holds numbers that are not finite; "
                "ask the service"
            )
        return embeddings

    def _embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Embed the texts of one request: shape (texts, width)."""
        from openai import OpenAIError

        try:
            answer = self._client.embeddings.create(
                model=self._model, input=list(texts), encoding_format="float"
            )
            # Services may send them in any order.
            ordered = sorted(answer.data, key=lambda embedding: embedding.index)
            vectors = np.array([embedding.embedding for embedding in ordered], dtype=np.float64)
        except OpenAIError as error:
            raise ModelError(f"model {self.name!r}: {self._reason(error)}") from None
        except (AttributeError, TypeError, ValueError):
            raise ModelError(self._malformed("no list of embeddings")) from None
        if vectors.ndim != 2 or len(vectors) != len(texts) or not vectors.size:
            raise ModelError(self._malformed(f"{len(vectors)} embeddings of {len(texts)} contexts"))
        return vectors

    def _malformed(self, sent: str) -> str:
        """Write the message about an answer of another form."""
        return f"model {self.name!r}: {self._host} sent {sent}; is it an embedding model?"

    def _reason(self, error: Any) -> str:
        """Say what went wrong, without the key."""
        from openai import APIConnectionError, AuthenticationError, NotFoundError

        if isinstance(error, APIConnectionError):
            return f"{self._host} cannot be reached; check the address"
        if isinstance(error, AuthenticationError):
            return f"{self._host} refused the key; check it"
        first = (str(error) or type(error).__name__).splitlines()[0].replace(self._key, "…")
        if isinstance(error, NotFoundError):
            return f"{first}; use an embedding model, or hf/… for one on the hub"
        return first


def _open_service(name: str) -> EmbeddingService:
    """Open an embedding model of a service; nothing is sent yet."""
    provider, _, model = name.partition("/")
    service = provider
    address = OPENAI_URL
    if provider != "openai":
        service, _, model = model.partition("/")
        address = ""
    if not service or not model:
        raise ModelError(f"model {name!r}: expected openai/MODEL or openai-api/SERVICE/MODEL")
    prefix = service.upper().replace("-", "_")
    key = os.environ.get(f"{prefix}_API_KEY", "")
    address = os.environ.get(f"{prefix}_BASE_URL", "") or address
    for variable, value in ((f"{prefix}_API_KEY", key), (f"{prefix}_BASE_URL", address)):
        if not value:
            raise ModelError(f"model {name!r}: {variable} is not set")
    return EmbeddingService(name, model, address, key)
