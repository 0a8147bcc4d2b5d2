"""What is valid in a study, but is seldom meant."""

from __future__ import annotations

from collections.abc import Iterator

from clinometer.stimuli.folders import shipped_studies
from clinometer.stimuli.loading import load_study, study_hash
from clinometer.stimuli.study import Dimension, Stereotype, Study

#: The study whose wordings a study without its own has.
_ENGLISH = "bai2025"


def remarks(study: Study) -> Iterator[str]:
    """Yield what a user should know of a study of their own, a line each; nothing if it is shipped.

    One group word on a side without `people`, sets of unequal size, English wordings under another
    language, the name of a shipped study.
    """
    study = study.own()
    if study.name in shipped_studies():
        if study_hash(study) == study_hash(load_study(study.name)):
            return
        yield f"name {study.name!r}: a shipped study has this name; give yours another"
    if study.language != "en" and _wording_texts(study) & _wording_texts(load_study(_ENGLISH)):
        yield f"language {study.language!r}: the wordings are the English ones; give your own"
    for key, stereotype in study.stereotypes.items():
        for side in ("marginalized", "default"):
            if len(words := getattr(stereotype, side)) == 1 and not stereotype.people:
                yield f"{key}: {side} is one word, {words[0]!r}; results will be about this word"
    for key, sets in _attribute_sets(study).items():
        if len(sets.tied) != len(sets.counter):
            sizes = f"{len(sets.tied)} tied and {len(sets.counter)} counter words"
            yield f"{key}: {sizes}; each set counts alike"


def _attribute_sets(study: Study) -> dict[str, Stereotype | Dimension]:
    """Return what has tied and counter words, by name: stereotypes, and the dimensions."""
    stereotypes = {key: words for key, words in study.stereotypes.items() if words.tied}
    return {**stereotypes, **study.dimensions}


def _wording_texts(study: Study) -> set[str]:
    variations = study.instruments.word_association.variations
    return {variation.model_dump_json() for variation in variations.values()}
