"""What a report shows of hidden states: sections, limits and sources.

Reference: Schuster et al. 2024, arXiv:2411.16527; Caliskan et al. 2017; Bai et al. 2025, SI J, O.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from clinometer.pieces.facts import Facts, spaced
from clinometer.pieces.prose import counted, first_few
from clinometer.pieces.sections import (
    Passage,
    ReportPart,
    Source,
    Term,
    findings_or_table,
    version_terms,
)
from clinometer_measures.states.report.associations import association_finding, association_section
from clinometer_measures.states.report.contexts import context_section
from clinometer_measures.states.report.differences import profile_finding
from clinometer_measures.states.report.layers import (
    direction_finding,
    direction_section,
    layer_section,
)
from clinometer_measures.states.report.profiles import SCALE, profile_section
from clinometer_measures.states.report.relations import relation_finding, relation_section
from clinometer_measures.states.report.results import IS_SINGLE_LAYER, States, read_states
from clinometer_measures.states.report.tally import tally_section

__all__ = ["findings", "state_part"]

_MEASURED = (
    "At each of its layers a model represents every word that it reads as a vector, the hidden "
    "state. Words that are used alike have similar states. Here the states of words for groups are "
    "compared with those of words of known meaning. For this the model is not asked anything, and "
    "nothing that it writes is used."
)
_APPROACHES = {
    "profiles": Term(
        "Profiles",
        "Where do words stand between the poles of stereotype content, such as warm and cold? "
        f"{SCALE} No side is stereotypical by itself.",
    ),
    "directions": Term(
        "Accuracy of the directions",
        "Do the directions place terms of a dictionary on the side where people put them? Share, "
        "0 to 1; baseline: always naming the more frequent side.",
    ),
    "associations": Term(
        "Association tests",
        "Are the words of one group closer to one set of attributes than those of another group? "
        "Effect −2 to 2, neutral 0; positive: the expected direction, for groups of people the "
        "stereotypical one.",
    ),
    "relations": Term(
        "Answers and hidden states",
        "Do the associations in the states go with those in the answers? Correlation −1 to 1, "
        "neutral 0.",
    ),
}

#: What these numbers cannot show.
LIMITS = (
    "A representation is not behaviour: a difference in hidden states need not show in what a "
    "model writes or decides, and a bias in its answers need not be found by these measures.",
    "The directions depend on the dictionary and on the contexts in which its terms are read. "
    "Other terms or other contexts give other profiles.",
    "Names indicate a gender in the records of one country, and class, age and origin as well. "
    "They say nothing about any person who bears one.",
    "The terms of a group are few, and each has other uses and meanings than the group.",
    "A mean over layers can hide opposite signs; see the single layers.",
    "Values are standardised over the compared words: in another comparison the same word gets "
    "another value. Values of two comparisons, or of two models, are not on one scale.",
    "The last state of Llama-like models is taken after the final norm and is on another scale "
    "than the states before it.",
    "Cosines and directions detect linear structure only. A bias that is encoded otherwise, or in "
    "words that were not tested, is not detected.",
    "A difference that is not shown is not shown to be absent. No result here clears a model.",
)

#: Table; a column with its value where only these rows are meant; and the work they come from.
SOURCES: tuple[tuple[str, dict[str, str], str], ...] = (
    ("profiles", {}, "Schuster, C. M., Dinisor, M.-A., Ghatiwala, S. & Groh, G. "
     "(2024). Profiling bias in LLMs: Stereotype dimensions in contextual word embeddings. "
     "arXiv:2411.16527."),
    ("profiles", {}, "Nicolas, G., Bai, X. & Fiske, S. T. (2021). Comprehensive "
     "stereotype content dictionaries using a semi-automated method. European Journal of Social "
     "Psychology, 51(1), 178–196."),
    ("associations", {}, "Caliskan, A., Bryson, J. J. & Narayanan, A. (2017). "
     "Semantics derived automatically from language corpora contain human-like biases. Science, "
     "356(6334), 183–186."),
    ("associations", {"measure": "seat"}, "May, C., Wang, A., Bordia, S., Bowman, "
     "S. R. & Rudinger, R. (2019). On measuring social biases in sentence encoders. NAACL-HLT."),
    ("associations", {"measure": "ceat"}, "Guo, W. & Caliskan, A. (2021). Detecting "
     "emergent intersectional biases: Contextualized word embeddings contain a distribution of "
     "human-like biases. AIES."),
    ("associations", {"measure": "mac"}, "Manzini, T., Lim, Y. C., Tsvetkov, Y. & "
     "Black, A. W. (2019). Black is to criminal as Caucasian is to police: Detecting and removing "
     "multiclass bias in word embeddings. NAACL-HLT."),
    ("associations", {"measure": "ripa"}, "Ethayarajh, K., Duvenaud, D. & Hirst, G. "
     "(2019). Understanding undesirable word embedding associations. ACL."),
    ("relations", {}, "Bai, X., Wang, A., Sucholutsky, I. & Griffiths, T. L. "
     "(2025). Explicitly unbiased large language models still form biased associations. PNAS, "
     "122(8), SI sections J and O."),
)  # fmt: skip
_REMOVAL = (
    "Mu, J. & Viswanath, P. (2018). All-but-the-top: Simple and effective postprocessing for word "
    "representations. ICLR."
)


def state_part(directory: Path) -> ReportPart | None:
    """Make the part of a report about hidden states; None where there is no table about them.

    `directory`: a results directory; a section whose table is absent is left out.
    """
    states = read_states(directory)
    if states is None:
        return None
    sections = (
        profile_section(states, "broad"),
        profile_section(states, "fine"),
        tally_section(states),
        layer_section(states),
        direction_section(states),
        context_section(states),
        association_section(states),
        relation_section(states),
    )
    approaches = tuple(term for key, term in _APPROACHES.items() if states.tables[key].height)
    title = "Stereotypes inside the model"
    names = states.names
    return ReportPart(
        key="representation",
        title="Hidden states",
        headline=f"{title}: {first_few(names)}" if names else title,
        version=states.facts.text("clinometer"),
        created=states.facts.text("created"),
        names=names,
        facts=(Term("Hidden states of", ", ".join(names)),) if names else (),
        measured=(Passage("Hidden states", (_MEASURED,), approaches),),
        **findings_or_table(
            findings(states),
            ("Measure", "Model"),
            "Findings per measure and model. Brackets: intervals.",
            "Nothing was compared in these results.",
        ),
        sections=tuple(section for section in sections if section),
        limits=LIMITS,
        sources=tuple(map(Source, _sources(states))),
        setting=_setting(states.facts),
    )


def findings(states: States) -> list[tuple[str, str, str]]:
    """Say what was found.

    Result: what it is about, model, text; the models of a kind one after the other.
    """
    rows: list[tuple[str, pl.DataFrame, str]] = []
    for part in states.by_model("differences", "words", where=pl.col("space") == "broad"):
        rows.append((f"Profile of {part['words'][0]}", part, profile_finding(part)))
    for part in states.by_model("associations", "study", where=IS_SINGLE_LAYER):
        rows.append((f"Association tests of {part['study'][0]}", part, association_finding(part)))
    for part in states.by_model("relations"):
        rows.append(("Answers and hidden states", part, relation_finding(part)))
    for part in states.by_model("directions"):
        rows.append(("Accuracy of the directions", part, direction_finding(part)))
    # A finding without text could not be measured.
    return [(title, part["model"][0], text) for title, part, text in rows if text]


def _sources(states: States) -> tuple[str, ...]:
    """Give the works that what was measured comes from, and the sources of its words."""
    works = []
    for table, condition, work in SOURCES:
        if states.tables[table].filter(**condition).height:
            works.append(work)
    if any((frame["removed"].fill_null(0) > 0).any() for frame in states.tables.values()):
        works.append(_REMOVAL)
    facts = states.facts
    works.append(facts.part("dictionary").text("citation"))
    works += [tests.text("citation") for tests in facts.parts("tests")]
    works += [words.text("source") for words in facts.parts("words")]
    # Where a record names no source, the text is empty.
    return tuple(dict.fromkeys(filter(None, works)))


def _setting(facts: Facts) -> tuple[Term, ...]:
    """Say what was read, and how."""
    sha256 = "SHA-256 {}"
    texts: list[tuple[str, str]] = []
    for model in facts.parts("models"):
        texts.append((f"Model {model.text('name')}", _model_text(model)))
    dictionary = _filled_texts(
        facts.part("dictionary"),
        name="{}",
        file="{}",
        terms="{} terms",
        senses="{} senses",
        sha256=sha256,
    )
    texts.append(("Dictionary", dictionary))
    for contexts in facts.parts("contexts"):
        text = _filled_texts(contexts, kind="{}", file="{}", contexts="{} contexts", sha256=sha256)
        texts.append(("Contexts", text))
    for words in facts.parts("words"):
        texts.append((f"Words: {words.text('name')}", _words_text(words)))
    for tests in facts.parts("tests"):
        texts.append((f"Tests: {tests.text('study')}", _filled_texts(tests, tests="{} tests")))
    setting = facts.part("setting")
    for key, value in facts.pairs("setting"):
        # A list, such as the numbers of removed components, has no single value.
        texts.append((spaced(key), value or ", ".join(setting.texts(key))))
    version = version_terms(facts.text("clinometer"), facts.text("created"))
    return (*(Term(name, text) for name, text in texts if text), *version)


def _filled_texts(part: Facts, **templates: str) -> str:
    """Write the texts of a part of the record that it has, each in the template of its key."""
    texts = {key: part.text(key) for key in templates}
    return "; ".join(templates[key].format(text) for key, text in texts.items() if text)


_LAST = {
    "normed": "last state after the final norm",
    "block": "last state as its last block gives it",
    "static": "one vector per word, whatever its context",
}


def _model_text(model: Facts) -> str:
    """Write how a model was read."""
    layers = len(model.texts("layers"))
    last = model.text("last")
    texts = (
        counted(layers, "layer") if layers else "",
        _filled_texts(model, width="width {}", dtype="{}"),
        _LAST.get(last, last),
        _filled_texts(model, fingerprint="fingerprint {}"),
    )
    return "; ".join(filter(None, texts))


def _words_text(words: Facts) -> str:
    """Write the sizes of groups of words, and the words that stand alone."""
    groups = ", ".join(f"{group} {n}" for group, n in words.pairs("groups"))
    individuals = ", ".join(words.texts("individuals"))
    return "; ".join(filter(None, (groups, f"single words: {individuals}" if individuals else "")))
