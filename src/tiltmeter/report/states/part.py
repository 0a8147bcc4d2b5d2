"""What a report shows of what stands inside models: sentences, sections, limits and sources.

Reference: Schuster et al. 2024, arXiv:2411.16527; Caliskan et al. 2017; Bai et al. 2025, SI J, O.
"""

from __future__ import annotations

from pathlib import Path

from tiltmeter.report.plan import Plan, spaced
from tiltmeter.report.prose import first_few
from tiltmeter.report.sections import Part, Passage, Source, Term, findings_or_table, made_with
from tiltmeter.report.states.associations import association_section
from tiltmeter.report.states.directions import direction_section, layer_section
from tiltmeter.report.states.findings import findings
from tiltmeter.report.states.profiles import SCALE, profile_section
from tiltmeter.report.states.relations import relation_section
from tiltmeter.report.states.results import Representation, read_representation

__all__ = ["LIMITS", "SOURCES", "state_part"]

_MEASURED = (
    "A model turns every word it reads into a list of numbers, a state, anew at each of its "
    "layers. Words that are used alike have states that lie close together. Here the states of "
    "words for groups are set against those of words with a meaning known beforehand. The model "
    "was not asked anything, and nothing it writes was looked at."
)
_APPROACHES = {
    "profiles": Term(
        "Profiles",
        f"Where do words stand between the poles of stereotype content, such as warm and cold? "
        f"{SCALE} No side is stereotypical by itself.",
    ),
    "directions": Term(
        "Accuracy of the directions",
        "Are terms of a dictionary on the side where people put them? Share, 0 to 1; to be set "
        "against always naming the more frequent side.",
    ),
    "associations": Term(
        "Association tests",
        "Are the words of one group closer to one set of attributes than those of another? Effect "
        "−2 to 2, neutral 0; positive: the expected, for groups of people the stereotypical way.",
    ),
    "relations": Term(
        "Answers and representation",
        "Is what is associated inside also what the model says? Correlation −1 to 1, neutral 0.",
    ),
}

#: What these numbers cannot show.
LIMITS = (
    "A representation is not behaviour: a lean inside need not show in what a model writes or "
    "decides, and what shows there need not be found inside by these measures.",
    "The dictionary and the contexts its terms are read in make the directions. Other terms, or "
    "other contexts, make other profiles.",
    "Names stand for a gender in the records of one country, and for class, age and origin as "
    "well. They say nothing about anybody who bears one.",
    "The terms of a group are few, and each has other uses and meanings than the group.",
    "A mean over layers hides opposite signs; see the layers one by one.",
    "Values are standardised by the compared words: with other words in the comparison, the same "
    "word gets another value. Values of two comparisons, or models, are not on one scale.",
    "The last state of Llama-like models stands after the final norm and is on another scale than "
    "the states before it.",
    "Cosines and directions see what is linear only. A lean that is stored in another way, or on "
    "words not tested, does not show.",
    "A difference that is not shown is not shown to be absent. Nothing here is an all-clear.",
)

#: Frame, and a column with its value where only that is meant → what it comes from.
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


def state_part(directory: Path) -> Part | None:
    """Make the part of a report about representation.

    `directory`: a results directory; a section whose table is absent is left out.
    None where there is no table about representation.
    """
    inside = read_representation(directory)
    if inside is None:
        return None
    made = (
        profile_section(inside, "broad"),
        profile_section(inside, "fine"),
        layer_section(inside),
        direction_section(inside),
        association_section(inside),
        relation_section(inside),
    )
    title = "Stereotypes inside the model"
    approaches = tuple(
        term for key, term in _APPROACHES.items() if not inside.tables[key].is_empty()
    )
    return Part(
        key="representation",
        title="Representation",
        headline=f"{title}: {first_few(inside.names)}" if inside.names else title,
        plan=inside.facts,
        names=inside.names,
        facts=(Term("Models read inside", ", ".join(inside.names)),) * bool(inside.names),
        measured=(Passage("Representation", (_MEASURED,), approaches),),
        **findings_or_table(
            findings(inside),
            ("Measure", "Model"),
            "What was found, per measure and model. Intervals stand in brackets.",
            "Nothing was compared in these results.",
        ),
        sections=tuple(section for section in made if section),
        limits=LIMITS,
        sources=tuple(map(Source, _sources(inside))),
        setting=_setting(inside.facts),
    )


def _sources(inside: Representation) -> tuple[str, ...]:
    """Give the works that what was measured comes from, and the sources of its words."""
    works = []
    for name, only, source in SOURCES:
        frame = inside.tables[name]
        rows = frame.filter(**only) if only else frame
        works += [source] if not rows.is_empty() else []
    removed = any((frame["removed"].fill_null(0) > 0).any() for frame in inside.tables.values())
    works += [_REMOVAL] if removed else []
    facts = inside.facts
    given = [facts.part("dictionary").text("citation")]
    given += [one.text("citation") for one in facts.parts("tests")]
    given += [one.text("source") for one in facts.parts("words")]
    return tuple(dict.fromkeys([*works, *filter(None, given)]))


def _setting(facts: Plan) -> tuple[Term, ...]:
    """Say what was read, and how."""
    terms = [(f"Model {one.text('name')}", _model(one)) for one in facts.parts("models")]
    dictionary, contexts = facts.part("dictionary"), facts.part("contexts")
    terms.append(("Dictionary", _joined(
        dictionary.text("name"), dictionary.text("file"), _counted(dictionary, "terms"),
        _counted(dictionary, "senses"), _hash(dictionary))))  # fmt: skip
    terms.append(("Contexts", _joined(
        contexts.text("kind"), contexts.text("file"), _counted(contexts, "contexts"),
        _hash(contexts))))  # fmt: skip
    terms += [(f"Words: {one.text('name')}", _words(one)) for one in facts.parts("words")]
    terms += [
        (f"Tests: {one.text('study')}", _counted(one, "tests")) for one in facts.parts("tests")
    ]
    setting = facts.part("setting")
    terms += [
        (spaced(key), value or ", ".join(setting.texts(key)))
        for key, value in facts.pairs("setting")
    ]
    return (*(Term(name, text) for name, text in terms if text), *made_with(facts))


_LAST = {
    "normed": "last state after the final norm",
    "block": "last state as its last block gives it",
}


def _model(one: Plan) -> str:
    layers = len(one.texts("layers"))
    width = one.text("width")
    return _joined(
        f"{layers} {'layer' if layers == 1 else 'layers'}" if layers else "",
        f"width {width}" if width else "",
        one.text("dtype"),
        _LAST.get(one.text("last"), one.text("last")),
        f"fingerprint {one.text('fingerprint')}" if one.text("fingerprint") else "",
    )


def _words(one: Plan) -> str:
    groups = ", ".join(f"{group} {n}" for group, n in one.pairs("groups"))
    alone = ", ".join(one.texts("individuals"))
    return _joined(groups, f"on their own: {alone}" if alone else "")


def _counted(one: Plan, key: str) -> str:
    return f"{one.text(key)} {key}" if one.text(key) else ""


def _hash(one: Plan) -> str:
    return f"SHA-256 {one.text('sha256')}" if one.text("sha256") else ""


def _joined(*texts: str) -> str:
    return "; ".join(filter(None, texts))
