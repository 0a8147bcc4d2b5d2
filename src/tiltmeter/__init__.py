"""Tiltmeter measures the implicit bias of language models."""

import importlib
from typing import Any

__version__ = "0.1.0"

#: Public name → module and, where it has another name there, attribute. Imported when first
#: used, so that the command line starts at once.
_PUBLIC = {
    "Design": "tiltmeter.instruments.design",
    "INSTRUMENTS": "tiltmeter.instruments.catalogue",
    "Inference": "tiltmeter.statistics",
    "MEASURES": "tiltmeter.instruments.catalogue",
    "Measure": "tiltmeter.frames",
    "Study": "tiltmeter.stimuli",
    "TiltmeterError": "tiltmeter.errors",
    "WORD_ASSOCIATION": "tiltmeter.instruments.word_association:MEASURE",
    "agreement": "tiltmeter.statistics",
    "attribution_contrasts": "tiltmeter.runs.content",
    "attributions": "tiltmeter.runs.content",
    "compare_predictors": "tiltmeter.statistics",
    "compliance": "tiltmeter.statistics",
    "contrast": "tiltmeter.statistics",
    "correlate_dimensions": "tiltmeter.statistics",
    "dimension_tests": "tiltmeter.statistics",
    "estimate": "tiltmeter.statistics",
    "load_published": "tiltmeter.reference",
    "load_study": "tiltmeter.stimuli",
    "rank_models": "tiltmeter.statistics",
    "read_attribution": "tiltmeter.elicitation.attributions",
    "read_decision": "tiltmeter.elicitation.decisions",
    "regress": "tiltmeter.statistics",
    "score": "tiltmeter.instruments.scoring",
    "trials": "tiltmeter.instruments.word_association",
    "write_report": "tiltmeter.report",
}

__all__ = [*_PUBLIC]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for."""
    if name not in _PUBLIC:
        raise AttributeError(f"module 'tiltmeter' has no attribute {name!r}")
    module, _, attribute = _PUBLIC[name].partition(":")
    return getattr(importlib.import_module(module), attribute or name)


def __dir__() -> list[str]:
    """List the public names."""
    return sorted([*_PUBLIC, "__version__"])
