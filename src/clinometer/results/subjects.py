"""Who was measured: models by the names inspect gives them, simulated ones among them."""

from __future__ import annotations

from collections.abc import Iterable

#: The provider of models with planted leans.
SIMULATED = "simulated"


def simulated(models: Iterable[str | None]) -> list[str]:
    """Return those models that are simulated, here or by a server that names them so.

    Examples
    --------
    >>> simulated(["simulated/neutral", "openai-api/local/simulated/own", "openai/gpt-4o", None])
    ['simulated/neutral', 'openai-api/local/simulated/own']
    """
    names = (model for model in models if model is not None)
    # Not the last part: a model of another provider may be called so.
    return [name for name in names if SIMULATED in name.split("/")[:-1]]


def say_simulated(models: Iterable[str | None]) -> str:
    """Say of simulated models that nothing was measured; empty where there are none."""
    names = list(dict.fromkeys(simulated(models)))
    if not names:
        return ""
    verb = "is a simulated model" if len(names) == 1 else "are simulated models"
    return f"{', '.join(names)} {verb}: answers follow from planted leans, no model was measured"
