"""Result tables of the papers: values as printed, with notes on doubtful ones.

`bai2025`: Bai, Wang, Sucholutsky & Griffiths 2025, PNAS 122(8), e2416228122, SI Appendix:
explicit benchmarks of GPT-4 in Tables S1 (BBQ), S2 (70 decisions) and S3 (sentiment and emotions of
continuations, BOLD), moderation of its answers in S4; word association in S5 (pilot), S6
(replication), S7 and S8 (rewordings), S9 (synonyms); relative decisions in S10 to S14 likewise;
logistic regressions in S15 and S16 and in the text of sections K and O; shares of yes in absolute
decisions in the article.

Word association scores of eight models: −1…1, neutral 0; decisions: shares, 0…1, neutral ½. Values
above neutral are stereotype-consistent. The paper scores an unreadable or refused answer in word
association as 0; Clinometer counts it as missing. Its intervals treat answers as independent.

`mist2025`: Li, Liu, Liu, Wang, Wei & Hu 2025, arXiv 2506.14161: word association along three
dimensions in Table 1, affective attribution in Table 2. Means: −1…1, neutral 0, positive if the
default group gets the words of the high pole. Shares of comedy, tragedy and neutral answers: 0…1.
`sd` is the population standard deviation: t = mean / (sd / √(n − 1)) reproduces all 24 rows.
Invalid answers are excluded; `n` is the number of valid answers out of 1,500 per model and
dimension.

`abramski2025`: Abramski, Rossetti & Stella 2025, arXiv 2510.24488, and the tables released with the
LLM World of Words (github.com/LLMWorldOfWords/LWOW, CC BY 4.0): association networks of humans and
three models, with all released digits. Effects are z / √n of Wilcoxon's test, neutral 0; `effect`
is female minus male; `stereotype` is positive if stereotype-consistent. The published p treats 125
pairs that share 25 targets as independent.

`schuster2024`: Schuster, Dinisor, Ghatiwala & Groh 2024, arXiv 2411.16527, Table 2: accuracy, 0…1,
of twelve models in predicting the pole of words of the extended dictionary on a stereotype
dimension, with a cut at zero and generated contexts that were not released; and the counts in
section 4.2 of the models in which a group of names or terms is significantly higher.

`hofmann2024`: Hofmann, Kalluri, Jurafsky & King 2024, Nature 633, 147–154, as printed in the
notebooks released with it (github.com/valentinhofmann/dialect-prejudice, commit
61e6421c7892bd229f88658b9d1f3f700df75e5e, MIT): a row per number, with the `analysis`, the `guise`
(covert: texts; overt: groups are named) and the `stat`. Strengths of a stereotype are in powers of
ten, neutral 0. p values are corrected for the number of tests (Holm).
"""

from __future__ import annotations

from importlib.resources import files
from typing import NamedTuple

import polars as pl
from polars import selectors as cs

from clinometer.errors import InputError, unknown

_FILES = {
    "bai2025": {
        "word_association": "published.csv",
        "relative_decision": "published_decisions.csv",
        "self_moderation": "published_moderation.csv",
        "bbq": "published_bbq.csv",
        "hypothetical_decision": "published_decisions70.csv",
        "bold": "published_bold.csv",
    },
    "mist2025": {
        "word_association": "published_mist_associations.csv",
        "affective_attribution": "published_mist_attributions.csv",
    },
    "abramski2025": {
        "network_effects": "published_abramski_effects.csv",
        "network_priming": "published_abramski_priming.csv",
        "network_correlations": "published_abramski_correlations.csv",
        "network_overlaps": "published_abramski_overlaps.csv",
        "networks": "published_abramski_networks.csv",
    },
    "hofmann2024": {"matched_guise": "published_guise.csv"},
    "schuster2024": {
        "directions": "published_schuster_accuracy.csv",
        "tally": "published_schuster_tally.csv",
    },
}

#: Columns of numbers, if a table has them; the last group only in tables of networks.
_COUNTS = ("n", "nodes", "edges", "n_models", "of_models")
_NUMBERS = (
    "mean",
    "ci_low",
    "ci_high",
    "sd",
    "t",
    "accuracy",
    "comedy_share",
    "tragedy_share",
    "neutral_share",
    "implicit_content",
    "profile_content",
    "decision_content",
    "implicit_flagged",
    "profile_flagged",
    "decision_flagged",
    "unknown_share",
    "explicit_yes",
    "implicit_yes",
    "value",
)
_NETWORK_NUMBERS = (
    "effect",
    "stereotype",
    "p",
    "spearman",
    "effect_p",
    "correlation",
    "only_a",
    "shared",
    "only_b",
    "density",
    "average_degree",
)
_REGRESSIONS = {"bai2025": "published_regressions.csv"}
_TEXT = ("table", "model", "term", "p", "note")

#: What has published values: study → instruments, as `load_published` takes them, and regressions.
PUBLISHED = {
    study: (*tables, *(("regressions",) if study in _REGRESSIONS else ()))
    for study, tables in _FILES.items()
}

#: Means of GPT-4 without and with a system prompt, as SI section M of `bai2025` gives them, without
#: interval or number of answers; study → instrument → intervention → the two means.
INTERVENTIONS = {"bai2025": {"word_association": {"egalitarian": (0.40, 0.24)}}}

#: Absolute decisions of GPT-4: the mean share of yes per version, over 21 stereotypes, as given
#: in the article under "Bias in Relative vs. Absolute Decisions".
YES_SHARES = {
    "bai2025": {
        "default_tied": 0.59,
        "default_counter": 0.93,
        "marginalized_tied": 0.85,
        "marginalized_counter": 0.97,
    }
}


class Published(NamedTuple):
    """Where published values of an instrument stand, who tested what, and how that differs."""

    study: str
    """Of the file in `reference`."""
    table: str
    """In this file."""
    printed: str
    """In the source."""
    tested: str
    """Who tested what, and when: a sentence."""
    differs: str
    """Why the values cannot be compared with a run's."""


def load_published(study: str, instrument: str = "word_association") -> pl.DataFrame:
    """Read the published scores of a study.

    Parameters
    ----------
    study
        The name of the study: ``"bai2025"``, ``"mist2025"``, ``"abramski2025"``,
        ``"schuster2024"`` or ``"hofmann2024"``.
    instrument
        ``"word_association"`` (Tables S5 to S9; of MIST, Table 1); of ``"bai2025"`` also
        ``"relative_decision"`` (S10 to S14), ``"self_moderation"`` (S4), ``"bbq"`` (S1),
        ``"hypothetical_decision"`` (S2) and ``"bold"`` (S3), of ``"mist2025"`` also
        ``"affective_attribution"`` (Table 2). Of ``"abramski2025"``: ``"networks"`` (Table 1),
        ``"network_overlaps"``, ``"network_priming"``, ``"network_effects"`` (figure 3),
        ``"network_correlations"``. Of ``"schuster2024"``: ``"directions"`` (Table 2), ``"tally"``
        (section 4.2). Of ``"hofmann2024"``: ``"matched_guise"``.

    Returns
    -------
    polars.DataFrame
        One row per printed value or line of values, with ``table``, ``model`` and ``note`` (doubts
        about the value; else null), and

        - of ``"bai2025"``: ``variation, stereotype`` (the printed label), ``category, level``
          (cell, category, model, overall), ``mean, ci_low, ci_high`` (null where the source
          prints none), ``missing, raw`` and ``model_in_source`` (as printed);
        - of ``"bai2025"``, self-moderation: ``stereotype`` (the printed label), and of word
          associations (``implicit``), profiles and decisions the mean score of OpenAI's moderation
          endpoint, 0…1 (``implicit_content``), and the share flagged (``implicit_flagged``);
        - of ``"bai2025"``, BOLD: ``group`` (the printed label), ``measure`` (as in the estimates of
          `bold`: ``bold_sentiment``, −1…1, and the probability of each emotion, 0…1), ``mean`` and
          ``sd``, the printed "+/-";
        - of ``"bai2025"``, explicit benchmarks: per ``category`` of BBQ the share of answers that
          it cannot be answered (``unknown_share``); per ``factor`` and ``group`` of the 70
          decisions the shares of yes in explicit and implicit prompts (``explicit_yes,
          implicit_yes``);
        - of ``"mist2025"``, word association: ``dimension, n`` (valid answers), ``mean, sd, t``
          and ``p`` (text, as printed);
        - of ``"mist2025"``, affective attribution: ``group`` (default, marginalized) and
          ``comedy_share, tragedy_share, neutral_share``, of the valid answers about that group;
        - of ``"abramski2025"``: ``network``, or ``network_a, network_b``, and the columns of the
          same names as in `clinometer.results.schemas`; `printed_density` and `printed_degree` of
          Table 1 (text, as printed);
        - of ``"schuster2024"``: ``dimension, accuracy``; of its tally: ``words, dimension``, the
          ``higher`` group, and in ``n_models`` of ``of_models``;
        - of ``"hofmann2024"``: ``analysis, guise, item, stat, value``.

    Raises
    ------
    InputError
        If there are no published values for the study or the instrument.

    Examples
    --------
    >>> load_published("bai2025").height
    918
    >>> load_published("bai2025", "relative_decision")["table"].unique().sort().to_list()
    ['S10', 'S11', 'S12', 'S13', 'S14']
    >>> load_published("mist2025").filter(model="GPT-4o")["mean"].to_list()
    [-0.067, 0.275, 0.176]
    >>> load_published("abramski2025", "networks")["edges"].to_list()
    [317344, 199103, 546866, 64599]
    """
    if study not in _FILES:
        raise InputError(unknown("study with published values", study, _FILES))
    if instrument not in _FILES[study]:
        raise InputError(unknown("instrument with published values", instrument, _FILES[study]))
    numbers = _NETWORK_NUMBERS if study == "abramski2025" else _NUMBERS
    return _read(_FILES[study][instrument]).with_columns(
        cs.by_name(*numbers, require_all=False).cast(pl.Float64),
        cs.by_name(*_COUNTS, require_all=False).cast(pl.Int64),
        cs.by_name("missing", require_all=False) == "1",
    )


def load_regressions(study: str) -> pl.DataFrame:
    """Read the published logistic regressions of decisions on a bias.

    Parameters
    ----------
    study
        The name of the study: ``"bai2025"``.

    Returns
    -------
    polars.DataFrame
        One row per printed coefficient: ``table, model, term, coef`` (log odds for one unit of
        the term), ``std_err, z, p`` (text, as printed), ``ci_low, ci_high, n_obs, aic, bic,
        log_likelihood, ll_null, pseudo_r2, llr_p, note``; null where the source prints none.

    Raises
    ------
    InputError
        If there are no published regressions for the study.

    Examples
    --------
    >>> load_regressions("bai2025").filter(table="S15")["coef"].to_list()
    [0.4571, 0.9858]
    """
    if study not in _REGRESSIONS:
        raise InputError(unknown("study with published regressions", study, _REGRESSIONS))
    return _read(_REGRESSIONS[study]).with_columns(
        pl.all().exclude(*_TEXT, "n_obs").cast(pl.Float64), pl.col("n_obs").cast(pl.Int64)
    )


def _read(name: str) -> pl.DataFrame:
    return pl.read_csv((files("clinometer.reference") / name).read_bytes(), infer_schema=False)
