"""Tiltmeter measures the implicit bias of language models."""

import importlib
from typing import Any

__version__ = "0.1.0"

#: Public name → module and, where it has another name there, attribute. Imported when first
#: used, so that the command line starts at once.
_PUBLIC = {
    "AssociationPlan": "tiltmeter.asking.association_plan",
    "Design": "tiltmeter.instruments.design",
    "Dictionary": "tiltmeter.states.dictionary",
    "INSTRUMENTS": "tiltmeter.instruments.catalogue",
    "Inference": "tiltmeter.statistics",
    "Lexicons": "tiltmeter.networks.bias",
    "Loading": "tiltmeter.models.readers.pretrained",
    "MEASURES": "tiltmeter.instruments.catalogue",
    "Measure": "tiltmeter.results",
    "Network": "tiltmeter.networks",
    "NetworkSetting": "tiltmeter.networks.setting:Setting",
    "ProfileSetting": "tiltmeter.states.profiles",
    "Spreading": "tiltmeter.networks.spreading",
    "States": "tiltmeter.models.readers.states",
    "Study": "tiltmeter.stimuli",
    "TiltmeterError": "tiltmeter.errors",
    "WORD_ASSOCIATION": "tiltmeter.instruments.word_association:MEASURE",
    "WordSet": "tiltmeter.states.word_tests",
    "WordTest": "tiltmeter.states.word_tests",
    "WordTestSetting": "tiltmeter.states.word_tests:TestSetting",
    "Words": "tiltmeter.states.words",
    "activate": "tiltmeter.networks.spreading",
    "agreement": "tiltmeter.statistics",
    "associations_inside": "tiltmeter.states.association:test_associations",
    "attribution_contrasts": "tiltmeter.audits.content",
    "attributions": "tiltmeter.audits.content",
    "build_network": "tiltmeter.networks.building:build",
    "check_priming": "tiltmeter.networks.priming",
    "clean_associations": "tiltmeter.networks.cleaning:clean",
    "collect_associations": "tiltmeter.asking.associating",
    "compare_predictors": "tiltmeter.statistics",
    "compliance": "tiltmeter.statistics",
    "contrast": "tiltmeter.statistics",
    "correlate_dimensions": "tiltmeter.statistics",
    "describe_network": "tiltmeter.networks.structure:describe",
    "dimension_tests": "tiltmeter.statistics",
    "estimate": "tiltmeter.statistics",
    "hold_against_chance": "tiltmeter.networks.chance",
    "load_network_study": "tiltmeter.stimuli",
    "load_published": "tiltmeter.reference",
    "load_study": "tiltmeter.stimuli",
    "load_word_tests": "tiltmeter.states.word_tests:load_tests",
    "make_contexts": "tiltmeter.asking.contexts",
    "measure_bias": "tiltmeter.networks.bias",
    "measure_profile": "tiltmeter.states.profiles",
    "network_overlap": "tiltmeter.networks.structure:overlap",
    "open_reader": "tiltmeter.models.readers.opening",
    "predict_directions": "tiltmeter.states.directions",
    "rank_models": "tiltmeter.statistics",
    "read_associations": "tiltmeter.networks.loading",
    "read_attribution": "tiltmeter.reading.attributions",
    "read_decision": "tiltmeter.reading.decisions",
    "read_dictionary": "tiltmeter.states.dictionary",
    "read_emotions": "tiltmeter.networks.lexicons",
    "read_examples": "tiltmeter.states.examples",
    "read_extended": "tiltmeter.states.directions",
    "read_network": "tiltmeter.networks.loading",
    "read_states": "tiltmeter.states.storing",
    "read_valence": "tiltmeter.networks.lexicons",
    "read_words": "tiltmeter.states.words",
    "regress": "tiltmeter.statistics",
    "relate": "tiltmeter.states.relation",
    "remove_components": "tiltmeter.states.nullification",
    "sample_corpus": "tiltmeter.states.corpus",
    "score": "tiltmeter.instruments.scoring",
    "stream": "tiltmeter.networks.streams",
    "terms_alone": "tiltmeter.states.contexts:alone",
    "terms_in_templates": "tiltmeter.states.contexts:in_templates",
    "trials": "tiltmeter.instruments.word_association",
    "vary_setting": "tiltmeter.networks.bias",
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
