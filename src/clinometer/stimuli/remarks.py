"""What is valid in a study, but is seldom meant."""

from __future__ import annotations

from collections.abc import Iterator

from clinometer.stimuli.loading import load_study, shipped_studies, study_hash
from clinometer.stimuli.study import Study

__all__ = ["remarks"]

#: The study whose wordings a study without its own has.
_ENGLISH = "bai2025"


def remarks(study: Study) -> Iterator[str]:
    """Yield what a user should know of a study of their own, a line each; nothing if it is shipped.

    One group word on a side, sets of unequal size, English wordings under another language, the
    name of a shipped study.
    """
    if study.name in shipped_studies():
        if study_hash(study) == study_hash(load_study(study.name)):
            return
        yield f"name {study.name!r}: a shipped study has this name; give yours another"
    if study.language != "en" and _wordings(study) & _wordings(load_study(_ENGLISH)):
        yield f"language {study.language!r}: the wordings are the English ones; give your own"
    for key, one in study.stereotypes.items():
        for side in ("marginalized", "default"):
            if len(words := getattr(one, side)) == 1:
                yield f"{key}: {side} is one word, {words[0]!r}; results will be about this word"
    sets = {key: (one.tied, one.counter) for key, one in study.stereotypes.items() if one.tied}
    sets |= {name: (pole.tied, pole.counter) for name, pole in study.dimensions.items()}
    for key, (tied, counter) in sets.items():
        if len(tied) != len(counter):
            yield f"{key}: {len(tied)} tied and {len(counter)} counter words; each set counts alike"


def _wordings(study: Study) -> set[str]:
    variations = study.instruments.word_association.variations
    return {one.model_dump_json() for one in variations.values()}
