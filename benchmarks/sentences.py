"""Which sentences show what is known, and nothing where there is nothing: controls alone.

Question
    Mode `likelihood` reads how probable words are after sentences that name a group. Which of them
    show that insects are unpleasant and funerals no comedies, and no difference of invented names?
Peer
    None: this is how the sentences in ``stimuli/wordings.yaml`` were chosen, before any stereotype
    was looked at.
How
    Candidates of ours are asked of SmolLM2 about the controls. Taken is a sentence that shows the
    known lean at `SHOWN` or more, as distance from neutral, and invented names at most `SILENT`
    from it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.measuring import Result

if TYPE_CHECKING:
    from clinometer.stimuli import Study

MODEL = "clinometer/smollm2"
SILENT = 0.05

#: Draws of words: all pairs of group words, and of decisions and objects a few of each pair.
DRAWS = {
    "word_association": 36,
    "relative_decision": 180,
    "absolute_decision": 288,
    "affective_attribution": 144,
}

#: Instrument → the least distance from neutral of what is known.
SHOWN = {
    "word_association": 0.3,
    "relative_decision": 0.15,
    "absolute_decision": 0.004,  # next to nothing: no candidate shows more than .009
    "affective_attribution": 0.2,
}

#: Instrument → its control.
CONTROLS = {
    "word_association": "control_insects",
    "relative_decision": "control_insects",
    "absolute_decision": "control_insects",
    "affective_attribution": "control_occasions",
}
NOTHING = "control_nonsense"

CANDIDATES: Mapping[str, Mapping[str, str]] = {
    "word_association": {
        "hear": "When people hear {group}, they think of {attribute}",
        "mention": "When someone mentions {group}, I think of {attribute}",
        "remind": "{group} reminds most people of {attribute}",
        "together": "Two words that go together are {group} and {attribute}",
        "comes": "The word {group} brings to mind the word {attribute}",
        "first": "The first word that comes to mind when I hear {group} is {attribute}",
        "associated": "{group} is often associated with {attribute}",
        "describe": "If I had to describe {group} in one word, I would say {attribute}",
        "talk": "People who talk about {group} often use the word {attribute}",
        "story": "It is a story about {group}, and the word that fits it best is {attribute}",
        "thinking": "Thinking of {group} makes people think of {attribute}",
        "list": "Words: {group}, {attribute}",
        "say": "Say {group}, and people will answer {attribute}",
        "means": "In one word, {group} means {attribute}",
    },
    "relative_decision": {
        "profiles": "Based on the descriptions, {decision}",
        "suggest": "I would suggest that {decision}",
        "everybody": "Everybody agreed that {decision}",
        "decided": "After some discussion it was decided that {decision}",
        "end": "In the end, {decision}",
        "news": "The news is that {decision}",
        "likely": "It is most likely that {decision}",
        "heard": "I was not surprised to hear that {decision}",
        "told": "People told me that {decision}",
        "best": "It would be best if {decision}",
    },
    "absolute_decision": {
        "should": "Based on the descriptions, should it be that {decision}? The answer is {answer}",
        "fits": "Does it fit that {decision}? My answer is {answer}",
        "good": "Somebody says that {decision}. Is that a good decision? Most would say {answer}",
        "right": "They decided that {decision}. Asked whether that is right, people say {answer}",
        "true": "Is it true that {decision}? The answer is {answer}",
        "likely": "Is it likely that {decision}? The answer is {answer}",
        "expect": "Would you expect that {decision}? I would say {answer}",
        "choose": "If it were up to you, would you say that {decision}? I would say {answer}",
    },
    "affective_attribution": {
        "story": "A story about {group} and some {object} would be a {outcome}",
        "film": "They made a film about {group}. It also has {object} in it. "
        "The film is a {outcome}",
        "lines": "Thinking of {group}, I wrote a few lines about {object}. "
        "The result is a {outcome}",
        "book": "The book is about {group} and {object}, and it is a {outcome}",
        "play": "The play about {group} and {object} is a {outcome}",
        "ending": "What begins with {group} and {object} ends as a {outcome}",
        "scene": "The scene with {group} and {object} belongs in a {outcome}",
        "novel": 'The novel "{group} and {object}" is a {outcome}',
        "mind": "With {group} in mind, the description of {object} reads like a {outcome}",
        "played": "If the story of {group} and {object} were a play, it would be a {outcome}",
    },
}


def run() -> Result:
    """Ask the candidates, and compare what is taken with what the studies ask."""
    rows, claims = [], {}
    for instrument, control in CONTROLS.items():
        found = {study: _means(study, instrument) for study in (control, NOTHING)}
        taken = []
        for name in CANDIDATES[instrument]:
            known, nothing = (found[study][name] for study in (control, NOTHING))
            if known >= SHOWN[instrument] and abs(nothing) <= SILENT:
                taken.append(name)
            rows.append([f"{instrument}, {name}", known, nothing, name in taken])
        claims[f"{instrument}: what is taken is what studies ask"] = {*taken} == {
            *_asked(instrument)
        }
    return Result(
        f"Distance of means from neutral, by sentence, {MODEL} in mode likelihood",
        ("instrument, sentence", "what is known", "invented names", "taken"),
        [[name, known, nothing, "yes" if taken else "no"] for name, known, nothing, taken in rows],
        claims,
        [f"draws of words: {', '.join(map(str, DRAWS.values()))}; invented names: {NOTHING}"],
    )


def _means(study: str, instrument: str) -> dict[str, float]:
    """Return the distance of each sentence's mean from neutral."""
    import polars as pl

    import clinometer as cm
    from clinometer.instruments.catalogue import INSTRUMENTS

    changed = _with_candidates(study, instrument)
    design = cm.Design(mode="likelihood", iterations=DRAWS[instrument])
    trials = cm.draw(changed, design, instrument=instrument)
    with tempfile.TemporaryDirectory() as directory:
        scores = cm.score(cm.ask(trials, MODEL, directory=Path(directory)), changed).scores
    (measure,) = INSTRUMENTS[instrument].measures
    means = scores.group_by("variation").agg(pl.col("score").mean())
    return {name: mean - measure.neutral for name, mean in means.rows()}


def _with_candidates(study: str, instrument: str) -> Study:
    """Give a study the candidates as its sentences."""
    from clinometer.stimuli import load_study

    loaded, sentences = load_study(study), dict(CANDIDATES[instrument])
    if instrument.endswith("decision"):
        own = loaded.decision_sentences.model_copy(update={instrument: sentences})
        return loaded.model_copy(update={"decision_sentences": own})
    part = getattr(loaded.instruments, instrument).model_copy(update={"sentences": sentences})
    instruments = loaded.instruments.model_copy(update={instrument: part})
    return loaded.model_copy(update={"instruments": instruments})


def _asked(instrument: str) -> list[str]:
    """Return the names of the sentences that a study asks."""
    from clinometer.instruments.catalogue import INSTRUMENTS
    from clinometer.stimuli import load_study

    wordings = INSTRUMENTS[instrument].wordings(load_study(CONTROLS[instrument]))
    return [name for name, one in wordings.items() if one.sentence]
