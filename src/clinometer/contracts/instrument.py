"""The type of instruments: one object defines a measure of bias, from the draw to the tables.

Each instrument's file in this folder ends in an `INSTRUMENT`. Inspect tasks, audits, costs and
tables are derived from these objects.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import polars as pl

from clinometer.contracts.cells import Cell, DesignedCells, by_cell
from clinometer.contracts.design import Design
from clinometer.contracts.episodes import Episode
from clinometer.contracts.simulation import (
    PlantedLean,
    RecognisedPrompt,
    Recogniser,
    SimulatedAnswer,
)
from clinometer.errors import InputError, StudyError, as_names, unknown
from clinometer.modes import LIKELIHOODS, LOGITS, MODES
from clinometer.modes.first_tokens import drop_unanswered
from clinometer.reference.published import Published
from clinometer.results import Measure
from clinometer.results.schemas import Table, Tables
from clinometer.stimuli import StereotypeWords, Study

if TYPE_CHECKING:
    from clinometer.pieces.sections import Section
    from clinometer.pieces.views import InstrumentResults


@dataclass(frozen=True, slots=True)
class Scored:
    """A score of a response, or the reason why there is none."""

    score: float | None
    reason: str | None
    coverage: float
    one_sided: bool | None = None
    first_share: float | None = None
    logit: float | None = None
    shares: Mapping[str, float] = field(default_factory=dict)
    """Attribute → probability (or 0/1 choice) of the marginalized group."""
    option_mass: float | None = None
    """In forced mode, the probability of all options of a question, mean over questions."""
    emotions: str | None = None
    """Emotion → probability, as JSON."""
    span: str | None = None
    """The passage that the decision was read from."""
    margin: float | None = None
    conflict: bool | None = None
    read_by: str | None = None
    outcome: str | None = None
    """Outcome of an affective attribution: comedy, tragedy or neutral."""
    words: Mapping[str, str] = field(default_factory=dict)
    """Group and attribute words by role, if inferred from the response."""


@dataclass(frozen=True)
class Key:
    """The words for scoring answers to one cell of a study."""

    study: Study
    stereotype: str
    words: StereotypeWords
    """Words that the instrument draws from."""
    scoring: str = "exact"
    recorded_words: StereotypeWords | None = None
    """The words that a recorded prompt asked to be associated, where they are other lists of the
    stereotype."""

    @cached_property
    def association(self) -> StereotypeWords:
        """The words of the stereotype's word association."""
        return self.recorded_words or self.study.words(self.stereotype)

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """Every word that a prompt of the study may ask to be associated."""
        vocabulary: set[str] = set()
        for words in (self.association, self.words):
            vocabulary.update(words.tied, words.counter, words.extra)
        return frozenset(vocabulary)

    @cached_property
    def sets(self) -> Mapping[str, str]:
        """Attribute → its set: ``tied`` or ``counter``."""
        sets: dict[str, str] = {}
        # The last entry of a word stands: tied before counter, association before other words.
        for role in ("counter", "tied"):
            for words in (self.words, self.association):
                sets |= dict.fromkeys(getattr(words, role), role)
        return sets


#: Response, trial, key → a score, or one for each measure. Never raises on what a model wrote.
Reader = Callable[[str, Mapping[str, Any], Key], Scored | Sequence[Scored]]


class Example(NamedTuple):
    """An answer that the author of an instrument scored by hand."""

    answer: str
    """With the words of the trial in braces, as `fill` has them: the columns of the trial, and
    ``tied_words`` and ``counter_words``, those of its attributes that are of either set. Of a
    column of several words a number gives one of them: ``attributes0`` is the first."""
    score: float
    """Of the first measure."""
    version: str | None = None
    """Of the trial; None: of any."""
    order: str | None = None
    mode: str = "free"
    columns: Mapping[str, Any] = {}
    """What else is known of the trial. Columns of `results.TRIALS` have these values in it, and of
    other trials it is no example. Others are those of its run, as `profile`, whose texts are filled
    as the answer is; `other`, for `Instrument.beside`, has those that tell the other trial."""


#: What the report knows of the answers → a section of the page; None without data.
DrawSection = Callable[["InstrumentResults"], "Section | None"]


@dataclass(frozen=True)
class Wording:
    """A variation of a study."""

    by_default: bool
    text: str = ""
    """The text; empty if each stereotype has its own wording."""
    unnamed: bool = False
    """Whether it names no group: a baseline beside the others, left out of every mean."""
    sentence: bool = False
    """Whether it is a sentence for the modes that ask these (`Mode.sentences`), and for no other.
    """

    @classmethod
    def of_variations(
        cls, texts: Mapping[str, str], default_variations: Collection[str]
    ) -> dict[str, Wording]:
        """Return variations, of which some are asked by default."""
        return {name: cls(name in default_variations, text) for name, text in texts.items()}

    @classmethod
    def of_sentences(cls, sentences: Mapping[str, str]) -> dict[str, Wording]:
        """Return sentences, which are all asked by default."""
        return {name: cls(True, text, sentence=True) for name, text in sentences.items()}


@dataclass(frozen=True)
class Version:
    """What a value of the column `version` means."""

    text: str
    """What tells such a trial from the others of a draw."""
    group: str = ""
    """The one group that the trial is about, marginalized or default; empty if there is not one."""


class Turns(NamedTuple):
    """How a study of many wordings is asked: each stereotype in some of them, which take turns."""

    wordings: int
    """In which a stereotype is asked; controls are in all. A kind of wordings, sentences or others,
    that has no more takes no turns."""
    iterations: int
    """Trials per stereotype, dimension and wording."""
    control: int
    """The same of a positive control."""
    placebo: int


@dataclass(frozen=True)
class Size:
    """Number of trials in an audit of one size, per stereotype, dimension and wording."""

    iterations: int
    control: int | None = None
    """Trials of the positive control; None: no control is lent, and those of a study itself have
    the trials of its stereotypes (docs/how-to/planning.md)."""
    placebo: int | None = None
    wordings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Study → the variations asked, if not the default."""
    turns: Mapping[str, Turns] = field(default_factory=dict)
    """Study → how its wordings take turns, if they do."""
    sentences: Turns | None = None
    """How sentences take turns, whatever the study."""
    studies: tuple[str, ...] | None = None
    """Studies asked where the user names no part of a study; None: that of the instrument, and
    those of others that have it."""
    by_name: bool = False
    """Whether the size includes the instrument only where the user names it or its study."""


@dataclass(frozen=True)
class Recorded:
    """How tables of recorded answers are read and completed."""

    columns: Mapping[str, str] = field(default_factory=dict)
    """Other column names → names in Clinometer."""
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Column → other names of its values → values in Clinometer."""
    allowed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Column → its allowed values."""
    asked: Callable[[Study | None], Iterable[str]] = lambda _: ()
    """Study, if it is known → columns of others that say what was asked: they are no conditions."""
    needs: Callable[[Study, Collection[str]], tuple[str, ...]] = lambda *_: ()
    """Study, columns of the table → required columns besides model, stereotype and response."""
    expand: Callable[[pl.DataFrame, Study], pl.DataFrame] = lambda responses, _: responses
    """Answers without a column `instrument`, study → a row for each stereotype of an answer."""
    offered: tuple[str, ...] = ()
    """Columns required for reading closed answers."""
    decision: str = "never"
    """Whether a column `decision` is the response: ``never``, ``always``, or ``alone`` (if there
    is no response)."""
    complete: Callable[[Mapping[str, Any], Study, StereotypeWords], dict[str, Any]] = lambda *_: {}
    """Trial, study, words → columns of the trial that can be inferred."""
    dimensions: bool = False
    """Whether an answer is about one dimension, inferred from its words."""


@dataclass(frozen=True, eq=False, repr=False)
class Instrument:
    """A method of measuring bias with prompts."""

    name: str
    measures: tuple[Measure, ...]
    """The measure of each score of a response."""
    parts: tuple[str, ...]
    """Parts of a study used in prompts, besides groups and attributes: wordings by the name of
    their instrument, `dimensions`, `objects`."""
    wordings: Callable[[Study], Mapping[str, Wording]]
    """The variations of a study; none if the study lacks required parts."""
    draw: Callable[[Study, Design, Sequence[str], Sequence[str]], Iterable[Cell]]
    """Study, design, stereotypes, variations → cells with their trials, a function of these but
    for `results.CONDITIONS`."""
    readers: Mapping[str, Reader]
    """Kind of answer (`modes.TEXT`, `CHOICES`, `LOGITS`, `LIKELIHOODS`) → its reader; the modes
    follow."""
    trial: str = ""
    """What one trial asks, as a noun phrase."""
    versions: Mapping[str, Version] = field(default_factory=dict)
    """The values of the column `version` in its trials."""
    ordered: str = "groups"
    """What is named in two orders, whose effect `order_effect` and `first_share` tell: groups or
    options."""
    words: Callable[[Study, str, str, str | None], StereotypeWords] = lambda study, key, *_: (
        study.words(key)
    )
    """Study, stereotype, variation, dimension → the words to draw from."""
    defect: Callable[[Study, str, str], str | None] = lambda *_: None
    """Study, stereotype, variation → the defect of the source wording that is kept, if any."""
    recorded: Recorded = field(default_factory=Recorded)
    beside: Callable[[Mapping[str, Any]], Hashable] | None = None
    """Trial → what it shares with the one other trial that its score needs. A reader has that trial
    with its response as `other`; None if there is none."""
    shared: Callable[[Sequence[Mapping[str, Any]], Study], Mapping[str, Any]] = lambda *_: {}
    """With `beside`: trials of one model that were asked alike, study → columns that a reader
    needs, the same for all of these trials."""
    examples: Sequence[Example] = ()
    """Answers that its author scored by hand, in one mode at least: of every version and order that
    a study asks there. A reader with a wrong sign reads itself back as right; these do not."""
    scorings: tuple[str, ...] = ("exact",)
    simulate: Callable[[RecognisedPrompt, PlantedLean], SimulatedAnswer] | None = None
    """Prompt, lean → what a model with this lean answers; None: simulated models cannot."""
    recognise: Callable[[Study], Recogniser] | None = None
    """Study → a function from a prompt to the question it puts, where prompts follow from a table
    of items; None: the words of the study tell which question a prompt puts."""
    judged: Mapping[str, Callable[[str], str]] = field(default_factory=dict)
    """Measure that a judge may read → the part of a response that the judge sees."""
    judged_as: Literal["assignment", "yes_no"] = "assignment"
    """What a judge reads: who gets which of two tasks, or yes or no; the latter is then scored as
    the ``decision`` of a structured answer."""
    paired: Measure | None = None
    """The measure that counts pairs of words and groups, if there is one."""
    details: Mapping[str, Table] = field(default_factory=dict)
    """Its own tables besides those that every instrument has, by name; `analyse` fills them."""
    analyse: Callable[[pl.LazyFrame], Tables] | None = None
    """Scores of one model (columns of `results.SCORES`) → what it makes of them besides the means
    that every measure has: the published analysis, for example, its `details`, and rows of
    ``matches`` where it matched trials."""
    analyse_study: Callable[[pl.LazyFrame, Study], Tables] | None = None
    """The same of the scores of one model and study, where it takes more of the study than scores
    have, such as its norms."""
    analysed_with: tuple[str, ...] = ()
    """Measures of other instruments whose scores `analyse` takes too."""
    analysed: Mapping[str, Measure] = field(default_factory=dict)
    """The measures that the report sets out as its published analysis, by name."""
    sections: Sequence[str | DrawSection] = ()
    """What draws its own sections of the page, in their order: functions, or ``module:function`` of
    those that are imported when a page is made."""
    published: Mapping[str, Published] = field(default_factory=dict)
    """Study → where published means of it stand, which the page sets beside the run's."""
    published_range: tuple[str, tuple[str, ...]] | None = None
    """For an explicit instrument: what Bai et al. (2025) print of GPT-4, with a ``{}`` for the
    range of each of the columns in `reference`."""
    effect: str = ""
    """The one of `analysed` that is stated beside the mean over all stereotypes, by its largest
    value, because groups cancel in a mean."""
    episode: Episode | None = None
    """How a trial is asked that has several questions, each after the answer to the one before;
    None: in one."""
    make_items: Callable[[Mapping[str, bytes]], bytes] | None = None
    """Name → content of released files → the table of items that a study names, as CSV; where the
    items may not come with Clinometer."""
    write_study: Callable[..., None] | None = None
    """Prompt file, study file, outcome, with options → writes a study of a prompt of one's own, for
    a person to read and change."""
    control: str = ""
    """A study with a known bias (positive control)."""
    constructs: str = ""
    """A study with known biases of other constructs. Of these, and of `control`, those are asked
    that stereotypes differ in."""
    placebo: str = ""
    """A study without bias (placebo)."""
    control_variations: Callable[[Study, Sequence[str], Study], Sequence[str]] = lambda *_: ()
    """Study, variations, control study → the variations in which the control is asked as a part of
    the study; none: it is asked as a study of its own."""
    controls_within: bool = False
    """Whether every study that it is asked of has a positive control among its stereotypes, so that
    none stands beside it."""
    sizes: Mapping[str, Size | None] = field(default_factory=dict)
    """Size of an audit → number of trials; not asked in other sizes, or where it is None. A size
    followed by ``, embedded`` takes its place for the embedded model, which runs on the local
    CPU."""
    prose: int = 0
    """Tokens around the choices in a free answer, for estimating cost."""
    first_answer: int = 0
    """Tokens of the first of two answers, if not `prose`, for estimating cost."""
    components: Callable[[], bytes] | None = None
    """Components of variance of its scores that come with it, for planning: a table as
    `reference.components` reads it. Else it is planned with those that are nearest."""
    study: str = "bai2025"
    """What is asked, or was answered, where no study is named."""
    iterations: int = 8
    """Of the inspect task."""
    options: tuple[str, ...] = ("order",)
    """Parameters of the inspect task: fields of `Design`, besides those that every task has."""
    place: int = 100
    """Position in lists and reports; the lowest comes first."""

    def __repr__(self) -> str:
        """Return the name only, because the fields are functions."""
        return f"<Instrument {self.name!r}>"

    @property
    def modes(self) -> tuple[str, ...]:
        """The response modes it supports."""
        return tuple(mode.name for mode in MODES.values() if mode.kind in self.readers)

    @property
    def is_controlled(self) -> bool:
        """Whether an audit of size quick, if it asks it, asks a positive control too."""
        quick = self.sizes.get("quick")
        has_control = quick is None or bool(self.control and quick.control)
        return has_control or self.controls_within

    def measure_rows(self) -> list[dict[str, Any]]:
        """Return what readers of results need to know, as JSON: a row for each measure.

        A row has the fields of the measure, the name of the `instrument`, its `trial`, `versions`,
        `ordered` and `effect`, and the measures `analysed`, whose ends are null if infinite.
        """
        instrument_fields = {
            "instrument": self.name,
            "trial": self.trial,
            "versions": {name: asdict(version) for name, version in self.versions.items()},
            "ordered": self.ordered,
            "effect": self.effect,
            "analysed": [_json_fields(measure) for measure in self.analysed.values()],
        }
        return [{**asdict(measure), **instrument_fields} for measure in self.measures]

    def variations(self, study: Study) -> dict[str, bool]:
        """Return the variations of a study, and whether each is a default."""
        return {name: wording.by_default for name, wording in self.wordings(study).items()}

    def variations_in(self, mode: str, study: Study, variations: Iterable[str]) -> list[str]:
        """Return those of some variations of a study that a mode asks; none if it asks none."""
        wordings = self.wordings(study)
        sentences = MODES[mode].sentences
        if mode not in self.modes:
            return []
        return [name for name in variations if wordings[name].sentence == sentences]

    def unnamed(self, study: Study) -> frozenset[str]:
        """Return the variations of a study that name no group."""
        wordings = self.wordings(study)
        return frozenset(name for name, wording in wordings.items() if wording.unnamed)

    def select(
        self,
        study: Study,
        stereotypes: str | Sequence[str] | None = None,
        variations: str | Sequence[str] | None = None,
    ) -> tuple[list[str], list[str]]:
        """Check names against a study and fill in its defaults.

        Names are a list or comma-separated text. None: all stereotypes, and the default variations.
        Raises StudyError if the study does not have a name.
        """
        defaults = self.variations(study)
        if not defaults:
            from clinometer.contracts.catalogue import offers  # imports this class

            has = ", ".join(offers(study))
            raise StudyError(f"study {study.name!r} has no instrument {self.name!r}; it has {has}")
        by_default = [name for name, is_default in defaults.items() if is_default]
        if variations is None and not by_default:
            raise StudyError(
                f"study {study.name!r}: {self.name} has no variation that is asked by default; "
                f"name one of {', '.join(defaults)}"
            )
        keys: dict[str, list[str]] = {}
        for key, stereotype in study.stereotypes.items():
            keys.setdefault(stereotype.category, []).append(key)
        return (
            _check_names(
                "stereotype", stereotypes, study.stereotypes, list(study.stereotypes), keys
            ),
            _check_names("variation", variations, defaults, by_default),
        )

    def trials(
        self,
        study: Study,
        design: Design,
        *,
        stereotypes: str | Sequence[str] | None = None,
        variations: str | Sequence[str] | None = None,
    ) -> pl.DataFrame:
        """Draw the trials of a study: columns of `results.TRIALS`.

        They depend only on the study's content, the names (see `select`) and the design, with
        `iterations` trials per stereotype, dimension and variation. Combinations without words or a
        wording are left out. Raising `iterations` appends rows and keeps the earlier ones. If
        answers are not sampled, trials stop before a question would be repeated.

        Raises
        ------
        InputError
            If it does not support the mode.
        StudyError
            If the study has no such stereotype or variation, or no combination that can be asked.

        Examples
        --------
        >>> from clinometer.instruments.word_association import INSTRUMENT
        >>> from clinometer.stimuli import load_study
        >>> study, two = load_study("bai2025"), Design(iterations=2)
        >>> trials = INSTRUMENT.trials(study, two, stereotypes=["age"], variations="replication")
        >>> trials["order"].sort().to_list()
        ['default_first', 'marginalized_first']
        """
        cells = self.cells(study, [design], stereotypes=stereotypes, variations=variations)
        return by_cell(cells)

    def cells(
        self,
        study: Study,
        designs: Sequence[Design],
        *,
        stereotypes: str | Sequence[str] | None = None,
        variations: str | Sequence[str] | None = None,
    ) -> DesignedCells:
        """Return the cells of a study, whose trials are drawn when they are needed; see `trials`.

        Designs differ in `results.CONDITIONS` alone.
        """
        design = designs[0]  # the others draw the same, so that one draw serves all
        if design.mode not in self.modes:
            raise InputError(
                f"{self.name}: mode {design.mode!r}; allowed are {', '.join(self.modes)}"
            )
        keys, selection = self.select(study, stereotypes, variations)
        mode_variations = self.variations_in(design.mode, study, selection)
        if not mode_variations:
            raise StudyError(self.no_variation_message(study, design.mode, selection))
        cells = [*self.draw(study, design, keys, mode_variations)]
        return DesignedCells(study, self.name, cells, designs)

    def no_variation_message(self, study: Study, mode: str, variations: Sequence[str]) -> str:
        """Say why a mode asks none of the named variations."""
        mode_variations = ", ".join(self.variations_in(mode, study, self.wordings(study)))
        has = (
            f"it asks {mode_variations}"
            if mode_variations
            else f"the study has none for {self.name}"
        )
        return f"study {study.name!r}: mode {mode} asks none of {', '.join(variations)}; {has}"

    def key(
        self,
        study: Study,
        stereotype: str,
        variation: str,
        dimension: str | None = None,
        scoring: str = "exact",
    ) -> Key:
        """Return the words for scoring answers to one cell."""
        return Key(study, stereotype, self.words(study, stereotype, variation, dimension), scoring)

    def score(self, response: str, trial: Mapping[str, Any], key: Key) -> dict[str, Scored]:
        """Score one response: a `Scored` for each measure, by its name.

        The trial has the known columns of `results.TRIALS`, with `mode` and `stop_reason`. Never
        raises for any response.
        """
        kind = MODES[trial["mode"]].kind
        reader = self.readers[kind]
        if kind in (LOGITS, LIKELIHOODS):
            scores = _read_answered(reader, response, trial, key)
        else:
            scores = _as_scores(reader(response, trial, key))
        names = [measure.name for measure in self.measures]
        return dict(zip(names, scores, strict=True))


def _as_scores(scores: Scored | Sequence[Scored]) -> Sequence[Scored]:
    return (scores,) if isinstance(scores, Scored) else scores


def _read_answered(
    reader: Reader, response: str, trial: Mapping[str, Any], key: Key
) -> Sequence[Scored]:
    """Score log-probabilities without the questions that have no answer, and say why."""
    refusals = key.study.answers.refusals
    answered = drop_unanswered(response, trial.get("first_tokens"), refusals)
    is_forced = MODES[trial["mode"]].kind == LOGITS
    scores = []
    for scored in _as_scores(reader(answered.response, trial, key)):
        reason = scored.reason if scored.score is not None else answered.reason or scored.reason
        mass = answered.option_mass if is_forced else None
        scores.append(replace(scored, reason=reason, option_mass=mass))
    return scores


def _json_fields(measure: Measure) -> dict[str, Any]:
    """Return the fields of a measure; ends and neutral value are null if they are not finite."""
    scale = measure.scale()
    ends = {"low": scale["range_low"], "high": scale["range_high"], "neutral": scale["neutral"]}
    return {**asdict(measure), **ends}


def _check_names(
    kind: str,
    names: str | Sequence[str] | None,
    allowed: Iterable[str],
    default: list[str],
    groups: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> list[str]:
    """Return names once each, or the default if none are given; refuse what is not allowed.

    `groups`: what may be mistaken for a name → the names that it stands for.
    """
    if names is None:
        return default
    listed = names.split(",") if isinstance(names, str) else as_names(kind, names)
    # Each once, in the order of their first place, which is the order of trials.
    distinct = list(dict.fromkeys(name.strip() for name in listed))
    for name in distinct:
        if name not in allowed and name in groups:
            raise StudyError(f"{name!r} is a category; its {kind}s: {','.join(groups[name])}")
        if name not in allowed:
            raise StudyError(unknown(kind, name, allowed))
    return distinct
