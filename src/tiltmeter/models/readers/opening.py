"""Open a model whose states are to be read, by its name.

- ``tiltmeter/smollm2``: the embedded model;
- ``hf/ORGANISATION/NAME`` or ``ORGANISATION/NAME``: on the hub;
- ``./folder`` or an absolute path: as transformers saves it;
- ``openai/MODEL``, ``openai-api/SERVICE/MODEL``: embeddings of a service, one layer.
"""

from __future__ import annotations

from pathlib import Path

from tiltmeter.errors import ModelError, unknown
from tiltmeter.models.embedded.weights import expand_weights, find_weights
from tiltmeter.models.providers import find_provider
from tiltmeter.models.readers.api import EmbeddingService, open_service
from tiltmeter.models.readers.pretrained import Loading, load_pretrained, require_libraries
from tiltmeter.models.readers.transformer import TransformerReader

__all__ = ["Loading", "open_reader", "shows_states"]

#: The embedded model.
EMBEDDED = "tiltmeter/smollm2"


def open_reader(model: str, loading: Loading | None = None) -> TransformerReader | EmbeddingService:
    """Open a model.

    Parameters
    ----------
    model
        Its name, as above.
    loading
        How to load and read it; of services nothing of it applies.

    Returns
    -------
    TransformerReader or EmbeddingService

    Raises
    ------
    ModelError
        If there is no such model, or its states cannot be read.
    """
    how = loading or Loading()
    provider, rest = find_provider(model), model.partition("/")[2]
    if provider.embeddings:
        return open_service(model)
    if not model.strip() or (provider.states and not rest):
        raise ModelError(f"model {model!r}: expected hf/ORGANISATION/NAME or a folder")
    source = str(Path(model).expanduser()) if model.startswith("~") else model
    if provider.embedded:
        if model != EMBEDDED:
            raise ModelError(unknown("embedded model", model, [EMBEDDED]))
        require_libraries(model, "gguf")
        source = str(expand_weights(Path(find_weights())))
    elif provider.states:
        source = rest
    return TransformerReader(model, load_pretrained(model, source, how), how)


def shows_states(model: str) -> bool:
    """Tell by a name whether states of all layers can be read, without opening the model.

    Parameters
    ----------
    model
        A name as inspect has them.

    Returns
    -------
    bool
        True for the embedded model, models on the hub by ``hf/``, and folders.
    """
    return find_provider(model).states or model.startswith(("./", "/", "~"))
