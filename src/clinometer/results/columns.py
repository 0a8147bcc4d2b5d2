"""The type, the meaning, the title and the format of every column of every table.

Every table is a selection of these columns, so a name has the same meaning in all tables; an
instrument or a family adds those that only its tables have. ``docs/reference/columns.md`` is
generated from them (`codebook`), and a test checks every written table against it. A null is a
missing value; another column says why.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import polars as pl
import polars.selectors as cs

from clinometer.errors import InputError, one_line, shortened
from clinometer.numbers import Format

Schema = dict[str, pl.DataType]


class Meaning(NamedTuple):
    """What a column means, and how tables for readers show it.

    `title`: where empty, the name of the column in words.
    `format`: where None, that of its type.
    `digits`: after the point, of a number.
    """

    text: str
    title: str = ""
    format: Format | None = None
    digits: int = 2


class Column(NamedTuple):
    """The type and the meaning of a column, and how tables for readers show it."""

    kind: pl.DataType
    meaning: str
    older_lack: bool = False
    """Whether tables of earlier versions, and those of others, may lack it; it is then null."""
    title: str = ""
    format: Format = "text"
    digits: int = 2


class Interval(NamedTuple):
    """Two columns that readers see as one interval; its title names its level as {interval}."""

    low: str
    high: str
    title: str = "{interval}"


_FORMATS: dict[pl.DataType, Format] = {
    pl.Float64(): "number",
    pl.Int64(): "count",
    pl.Boolean(): "yes_no",
}


def typed_columns(
    kind: pl.DataType, *, older_lack: bool = False, **meanings: str | Meaning
) -> dict[str, Column]:
    """Return columns of one type from their meanings; a text alone is shown as its type is."""
    declared = {}
    for name, meaning in meanings.items():
        text, title, form, digits = Meaning(meaning) if isinstance(meaning, str) else meaning
        title = title or name.replace("_", " ").capitalize()
        form = form or _FORMATS.get(kind, "text")
        declared[name] = Column(kind, text, older_lack, title, form, digits)
    return declared


#: What the same trials can be asked under; draws do not depend on it.
CONDITIONS = ("intervention", "reasoning_effort", "temperature")

COLUMNS: dict[str, Column] = {
    **typed_columns(
        pl.String(),
        # who was measured
        family="family of measures: answers, networks or states",
        subject="what was measured: a model, a network or people; null: all models together",
        model="the model, by its inspect name; null if the subject is not a single model",
        # what was measured
        study="the study that the stimuli come from",
        instrument="the instrument, or the part of one, that gave the value",
        measure="name of the measure; it says what the value means",
        level="level of pooling: cell (stereotype and wording), stereotype, category, model or "
        "overall; in networks and states, the finest key column",
        # factors
        mode="response mode: free, structured, forced or likelihood",
        intervention="name of the system prompt; none without one",
        category="category of the stereotype; null if the row pools over categories",
        stereotype="one contrast of the study: two groups and two sets of attributes",
        variation=Meaning("wording of the instrument", "Wording"),
        word_list="how attributes are listed in the prompt: plain or as_released",
        scoring="how answers are scored: exact, published, or emotions (BOLD: exact, and emotions)",
        # trials
        trial_id="the trial: a prompt with its words, orders and seed",
        pair_id="the mirrored pair: one draw in both group orders, or of both groups",
        order="marginalized_first or default_first; null if only one group is named",
        marginalized="the word drawn for the marginalized group",
        default="the word drawn for the default group",
        tied="decisions: the task drawn from the attributes tied to the marginalized group",
        counter="decisions: the task drawn from the counter attributes",
        attribute_order="decisions and attributions: tied_first or counter_first",
        version="group and attribute that an absolute decision asks about; group that an affective "
        "attribution, a hypothetical decision or a continuation is about; self-report: group and "
        "attribute, or the set of the attribute; self-moderation: blind or told; BBQ: the right "
        "answer (target, other, unknown)",
        labels="forced mode: labels of the first and the second option; self-report: which end of "
        "the scale is number 1, low_first or high_first; BBQ: label of unknown",
        system="the system prompt",
        prompt="the prompt; of an episode, its first",
        followup="the second prompt; with {response1} it is sent without the first exchange",
        schema="structured mode: JSON schema of the answer",
        opening="forced mode: how the answer is opened where a provider can",
        source_defect="a defect of the source wording that is kept verbatim",
        # answers
        response="what the model answered; of an episode, each answer and its stop reason, as JSON",
        baseline_response="what the baseline answered to the trial",
        candidate_response="what the candidate answered to the trial",
        profile="the first answer, if there was a second prompt",
        stop_reason="why generation ended: stop, max_tokens, content_filter or error",
        error="the provider's error, if there is no answer",
        failed_function="the function of an instrument that failed, as module:function",
        failure="what it raised",
        reason="why there is no score: refused, neither, both, unparsed, truncated, low_coverage, "
        "error (no answer came, or the table has none), unpaired (the trial beside it has no "
        "answer), other_words (the words asked are none of the study's), unreasoned (no tokens of "
        "reasoning are stated); in forced mode also options_unlikely (the options have next to no "
        "probability, see `option_mass`), reasoning (so has a model that begins to reason), and "
        "tokens_unreadable (an option may begin with a token that the server did not spell)",
        read_by="who read the decision or choice of a free text, rules or judge",
        span="the passage of the answer that the score rests on",
        attribute=Meaning("an attribute word or task", "Word or task"),
        set="the set of the attribute: tied, counter or extra; object: a described object",
        # comparisons
        factor="the column in which baseline and candidate differ",
        baseline="the value of `factor` that is the reference",
        candidate="the value of `factor` that is compared with the baseline",
        matched_by="what was asked of both alike: trial (a paired comparison), or stereotype (the "
        "trials differ); null where nothing was matched",
        # networks
        identity="identity of a study of networks: two categories of primes",
        targets="set of target words; null: not by set",
        prime="the prime, a word that is activated first; null: all primes of the identity",
        first="the first of two categories, groups, sets of targets or dimensions (a positive "
        "difference favours it), or of two correlated wordings, orders, modes or instruments",
        second="the second of the two",
        varied="the parameter that differs from the default: time_steps, norm, weights or "
        "retention; null: none",
        norm="norm by which activations are divided: l1, l2 or none",
        range="what the interval generalises over: prompts (answers, draws and orders vary), "
        "other_prompts (other wordings and group words of the kind, too) or stereotypes (other "
        "stereotypes, too)",
        target="a target word, or the last word of a stream",
        # states
        contexts="in which contexts the words of the poles or tests were read: generated, "
        "dictionary, corpus, templates or none",
        words="name of the set of groups of words",
        group="a group of words; null: a single word",
        layer="number of the layer, 0 before the first block; mean: over all layers; null: "
        "from answers, not from a layer",
        space="broad (warmth, competence) or fine (the dictionary's own dimensions)",
        cut="cut between the two poles: zero, or centred (the mean of the coordinates)",
        toward="attributes that the first targets are expected to be associated with",
        against="attributes that the second targets are expected to be associated with",
        missing_as="treatment of an answer without a score: left_out, zero, lowest, highest or "
        "kept (its tokens count)",
        # regressions
        predictor="predictor of the regression",
        response_variable="response variable of the regression, a column of 1 and 0",
        part="value of the column that rows were split by; all: every row",
        formula="the model: 1, 1 + a, 1 + a + b",
        component="component of a predictor: total, within (deviation from the mean of the "
        "cluster) or between (mean of the cluster); of a variance: stereotypes, wordings, their "
        "interaction (stereotypes × wordings) or draws",
        # planning
        error_source="what makes scores of a stereotype differ: variation, marginalized, default, "
        "cell (a wording with one pair of group words), draw or response; shared_variation is the "
        "part of variation that all stereotypes have in common",
        planned_from="whose components of variance a prediction uses, and where they differ from "
        "what is planned",
        # inference
        method="method of interval and p: clustered, published, permutation, bootstrap, "
        "placebo, rewired, mixed, …",
        test="the test of p: t, beta (a bound for answers on a scale with two ends), unanimous "
        "(exact bound if clusters do not vary), …",
        alternative="two-sided, greater or less",
        adjusted_over="what a reader sees at once: p_bonferroni, p_holm and p_bh are adjusted over "
        "these tests; with p_bh, the interval is at the level that decides",
        clustered_by="what varies in the interval: wordings, group words, draws, answers; in "
        "networks and states, what the observations of a cluster share",
        conditional_on="what the interval holds fixed: stereotypes, attribute words, single "
        "wordings (there is one), …",
        direction="stereotype-consistent side of the neutral value: above or below; null: neither",
        verdict="verdict on the estimate",
        because="the rule that gave the verdict",
        note="why the value is missing, or a caveat",
        served_as="names that the answers give of the model that answered",
    ),
    **typed_columns(
        pl.Int64(),
        iteration="number of the draw within its cell",
        seed="seed of sampling, for models on the local machine",
        input_tokens="tokens of the prompt, as counted by the provider",
        output_tokens="tokens of the answer",
        n=Meaning("number of observations asked for; in networks and states, present", "n"),
        n_stereotypes="stereotypes in the mean, of which each counts once, as 1 / n_stereotypes; "
        "null: each answer counts once, as published",
        n_trials="trials of the plan, for each model",
        n_answered="trials that have an answer",
        n_served="how many names the answers give of the model that answered",
        n_scored=Meaning("observations with a value, used for the estimate", "Scored"),
        n_refused=Meaning("answers without a score because the model declined", "Refused"),
        n_neither="answers without a score because nothing was decided",
        n_both="answers without a score because both options were chosen",
        n_unparsed="answers that could not be read",
        n_truncated="answers cut off before they could be read",
        n_low_coverage="answers that paired too few of the words",
        n_error="trials that ended in an error without an answer",
        n_pairs="mirrored pairs scored in both orders",
        n_more="further trials of each run, asked like these, that would give a verdict if the "
        "estimate stays; null: there is a verdict, more wordings are needed, or it is of one "
        "wording",
        n_calls="calls of the model",
        n_variations="wordings asked",
        n_iterations="trials per stereotype, dimension and wording",
        n_group_pairs="pairs of a marginalized and a default word, the fewest of any stereotype",
        n_clusters="clusters used for the standard error",
        n_resamples="permutations, bootstrap samples, placebos or rewired networks used for p or "
        "interval",
        n_unasked_baseline="trials asked under the candidate only",
        n_unasked_candidate="trials asked under the baseline only",
        n_lost_baseline="matched trials scored under the candidate only",
        n_lost_candidate="matched trials scored under the baseline only",
        n_lost_both="matched trials scored under neither",
        n_read="answers that could be read",
        n_missing="rows left out because the predictor or the response variable is missing",
        n_ones="rows whose response variable is 1",
        n_parameters="parameters of the model",
        removed="leading principal components removed from the states",
        time_steps="steps of spreading activation",
    ),
    **typed_columns(
        pl.Float64(),
        relative_variance="variance due to an error source, as a part of (mean − low)(high − mean) "
        "of the scale",
        answers_per_unit="answers behind a response of `error_source`: 2 for mirrored pairs",
        half_width="half the width of the interval where the mean is neutral",
        smallest_effect="distance from neutral of the nearest mean above it that is found with "
        "the stated power; null: none on the scale",
        effect="distance from neutral that is to be found",
        usd="dollars that the calls cost, by the list of prices; null: not known",
        smallest_beyond="distance from neutral of the nearest mean whose interval lies above the "
        "margin of equivalence with the stated power, as that of a positive control must; null: "
        "none on the scale",
        smallest_change="rise of a neutral mean, from one run of this design to another, that a "
        "comparison finds with the stated power; null: none on the scale, or not judged",
        smallest_effect_model="`smallest_effect` for the mean of the model",
        equivalent_power="probability of the verdict `equivalent` where the true mean is neutral",
        # scores
        score="the score of a response, on its measure's scale",
        coverage="words paired / words asked, 0 to 1",
        first_share=Meaning(
            "share given to the group, or the outcome, named first; neutral ½", "First-named share"
        ),
        logit="forced mode: difference of the log odds, tied − counter",
        margin="decisions: agreement of the evidence in the answer, 0 to 1",
        share="mean probability, or share, of the marginalized group for the word; neutral ½",
        contribution=Meaning(
            "mean influence of the word on the score of its stereotype, relative to the "
            "words of its set; positive: the word makes the score more stereotype-consistent",
            digits=3,
        ),
        score_without=Meaning(
            "mean score of the stereotype without the word", "Mean without it", digits=3
        ),
        # estimates
        estimate=Meaning("the value of the measure", "Mean"),
        baseline_estimate="the value under the baseline, over matched observations",
        candidate_estimate="the value under the candidate, over matched observations",
        baseline_score="the score of the baseline's answer",
        candidate_score="the score of the candidate's answer",
        pairing_gain="times as many trials that the same error needs without pairing; null: not "
        "in pairs",
        range_low="low end of the measure's scale; null: none",
        range_high="high end of the measure's scale; null: none",
        neutral="the value that means no bias",
        sd="standard deviation of the observations",
        se=Meaning("standard error of the estimate", "SE", digits=3),
        df=Meaning("degrees of freedom of the test", "df", digits=1),
        statistic="test statistic: t, z, χ² or another",
        p=Meaning("p of the test, unadjusted", "p", "p"),
        p_bonferroni=Meaning(
            "of differences: p times the number of tests in `adjusted_over`, at most 1; "
            "below 1 − confidence exactly where the interval excludes neutral",
            "p (Bonferroni)",
            "p",
        ),
        p_holm=Meaning("p adjusted over `adjusted_over` (Holm 1979)", "p (Holm)", "p"),
        p_bh=Meaning(
            "p adjusted over `adjusted_over` (Benjamini & Hochberg 1995); of means of scores with "
            "weights, and below 1 − confidence exactly where the interval excludes neutral",
            "p (BH)",
            "p",
        ),
        confidence="confidence level of the interval, 0 to 1",
        ci_low="low end of the interval",
        ci_high="high end of the interval",
        pointwise_low="low end of the interval of this mean alone, at `confidence`; ci_low is at "
        "the level that decides among `adjusted_over`, and in these prompts no farther towards "
        "neutral than in other prompts",
        pointwise_high="high end of the interval of this mean alone",
        effect_size=Meaning("standardised distance from neutral: Cohen's d, d_z or w", "d"),
        compliance=Meaning("share of the responses that could be scored, 0 to 1", format="share"),
        bound_low="worst case: every missing score at the low end",
        bound_high="worst case: every missing score at the high end",
        bound_ci_low="low end of the interval if every missing score is at the low end; of a "
        "difference, that of the row alone",
        bound_ci_high="high end of the interval if every missing score is at the high end",
        tost_margin="largest distance from neutral that counts as no bias, in the measure's unit",
        tost_p="p of the equivalence test (TOST), unadjusted",
        placebo_mean="mean of the same measure where there is nothing to find: in the placebos, "
        "rewired networks or the placebo study",
        placebo_low="low end of the interval of the placebos, at `confidence`",
        placebo_high="high end of the interval of the placebos, at `confidence`",
        # order and compliance
        order_effect="mean score with the marginalized group first − with the default group first",
        one_sided_share="share of the scored responses in which one group was given no word",
        # outcomes
        # networks
        retention="share of its activation that a word keeps at each step",
        # states
        # regressions
        intercept="log odds at a predictor of 0",
        intercept_se="standard error of the intercept",
        covariance="covariance of intercept and coefficient",
        odds_ratio="odds ratio for one unit of the predictor; neutral 1",
        cluster_sd="standard deviation of the clusters' intercepts, in log odds",
        slope_sd="standard deviation of the clusters' within coefficients, in log odds",
        coefficient_per_sd="log odds for one standard deviation of the predictor",
        log_likelihood=Meaning("log-likelihood of the model", "Log-likelihood", digits=1),
        ll_null="log-likelihood of the model without the predictor",
        pseudo_r2=Meaning(
            "McFadden's pseudo R²: 1 − log_likelihood / ll_null", "Pseudo R²", digits=3
        ),
        llr_p="p of the likelihood ratio test, 1 degree of freedom",
        aic=Meaning("Akaike's criterion; lower is better", "AIC", digits=1),
        bic=Meaning("Bayes' criterion; lower is better", "BIC", digits=1),
        delta_aic=Meaning("difference from the lowest AIC of the same rows", "Δ AIC", digits=1),
        delta_bic="difference from the lowest BIC of the same rows",
        akaike_weight="Akaike weight among the models of the same rows",
    ),
    **typed_columns(
        pl.Boolean(),
        one_sided="whether one group was given no word; null if there is no score",
        conflict="decisions: whether some evidence in the answer contradicts the decision",
        explicit="whether the questions show what they are about, as in bias benchmarks and "
        "self-report",
        weighted="whether spreading used the weights of edges",
        converged="whether the fit converged; null: no fit",
    ),
    **typed_columns(
        pl.List(pl.String()),
        attributes="the attribute words in the order presented",
        options="forced mode: the option counted as 1, and the other",
    ),
    **typed_columns(
        pl.String(),
        older_lack=True,
        dimension="dimension of stereotype content, such as competence; null where the stereotype "
        "has attributes of its own; BBQ: whether the context is ambiguous or disambiguated",
        object="affective attribution: the neutral object described; hypothetical decision: the "
        "decision; BBQ: the template of the question",
        outcome="affective attribution: comedy, tragedy or neutral; self-moderation: flagged, "
        "unflagged, or why the judgement could not be read; hypothetical decision: yes or no; BBQ: "
        "target, other or unknown",
        control="kind of control study: positive (an association is known to be present), "
        "negative (known to be absent), words (arbitrary words in place of a single one) or things "
        "(what a single word is also said of); null: none",
        construct="what the attributes of a stereotype differ in, such as pleasantness or danger; "
        "positive controls of the same construct speak for it; null: not stated",
        shares="word association: the words that were paired, their sets, and the share of the "
        "marginalized group for each (forced mode: probability; else 1 or 0), as JSON",
        emotions="BOLD: the probability of each emotion in the continuation, as JSON; null if not "
        "classified",
        reasoning_effort="reasoning effort that was asked for: a level such as low, or a number of "
        "tokens; null: the provider's default",
        temperature="sampling temperature, where a plan has several; null: that of the whole plan",
        reasoning="reasoning text of the answer, or the provider's summary of it",
        first_tokens="forced mode: of each question, the probability of all its options as first "
        "token (`options`, 0 to 1), that of the likeliest other first tokens (`others`), and of "
        "those that cannot be read (`unreadable`), as JSON; likelihood mode: `unreadable` is 1 of "
        "words that could not be read; null: options were read whole, nothing was unreadable, or "
        "the answer is of an earlier version",
        script="of an episode: what happens in it and the texts of its questions, as JSON",
        elsewhere="which answers do not carry the mark of the key that the plan was made with, and "
        "where they come from; null: all carry it",
    ),
    **typed_columns(
        pl.Int64(),
        older_lack=True,
        n_unpaired="answers without a score because the trial beside theirs has no answer",
        n_unreasoned="answers without a score because no tokens of reasoning are stated",
        n_options_unlikely="answers without a score because the options are unlikely",
        n_reasoning="answers without a score because the model begins to reason instead",
        n_tokens_unreadable="answers without a score because tokens of an option cannot be read",
        n_other_words="answers without a score because they are to other words than the study's",
        n_absent="answers that never came, or are to other words than the study's: `compliance` "
        "leaves them out, the bounds count them as missing",
        reasoning_tokens="tokens of reasoning, as counted by the provider; null: not stated",
        steps="of an episode: the most questions that the trial asks, one after another; null: one",
        n_elsewhere="answers that do not carry the mark of the key that the plan was made with",
    ),
    **typed_columns(
        pl.Float64(),
        older_lack=True,
        n_tests="by what the level of a test is divided, among all that is seen at once",
        units_low="these prompts: units that the lower bound counts, at most `n_clusters`",
        units_high="these prompts: units that the upper bound counts",
        harm_high="of a difference of two runs: how much farther from neutral the candidate may "
        "lie, the bound that errs with probability 1 − confidence, with the worst that missing "
        "answers could be; `not_worse` where it is within the margin",
        option_mass="forced mode: probability of all options of a question together as first token "
        "(of the embedded model as whole options), mean over the questions of the trial, 0 to 1; "
        "null: not recorded, or an episode",
    ),
    **typed_columns(
        pl.Boolean(),
        older_lack=True,
        unnamed="whether the prompt names no group: a baseline, in no mean; null: it names them",
    ),
}

#: Name → the two columns that are shown as one interval.
INTERVALS = {
    "interval": Interval("ci_low", "ci_high"),
    "pointwise": Interval("pointwise_low", "pointwise_high", "Of the row"),
    "bounds": Interval("bound_low", "bound_high", "Worst case"),
}


def columns(*names: str, own: Mapping[str, Column] = MappingProxyType({})) -> Schema:
    """Return the schema of a table from the names of its columns.

    `own` are columns that only the tables of an instrument or a family have.
    """
    return {name: (own.get(name) or COLUMNS[name]).kind for name in names}


def may_lack(name: str) -> bool:
    """Whether a table of an earlier version, or of others, may lack a column; it is then null."""
    return name in COLUMNS and COLUMNS[name].older_lack


def check(frame: pl.DataFrame, schema: Mapping[str, pl.DataType], name: str) -> pl.DataFrame:
    """Select and cast the columns of `schema`, in its order.

    Columns that older tables lack may be missing (`may_lack`). Raises InputError, with `name` for
    the frame, if another column is missing or has values of another type.
    """
    kinds = dict(frame.schema)
    if kinds == schema and list(kinds) == list(schema):
        return frame
    missing = [column for column in schema if column not in kinds]
    if later := [column for column in missing if may_lack(column)]:
        frame = frame.with_columns(pl.lit(None, schema[column]).alias(column) for column in later)
        kinds = dict(frame.schema)
        missing = [column for column in missing if column not in kinds]
    if missing:
        raise InputError(
            f"{name}: missing column {shortened(missing)}; has {shortened(frame.columns, 40)}"
        )
    if misfit := next((c for c, t in schema.items() if not _fits(kinds[c], t)), None):
        raise InputError(
            f"{name}: {misfit} holds {one_line(kinds[misfit])}; expected {schema[misfit]}"
        )
    try:
        return frame.select(
            pl.col(c) if kinds[c] == t else pl.col(c).cast(t) for c, t in schema.items()
        )
    except pl.exceptions.PolarsError:
        raise InputError(f"{name}: {_misfit(frame, schema)}") from None


def without_texts(scores: pl.LazyFrame) -> pl.LazyFrame:
    """Empty the two columns of texts, which few measures read and which take most of the memory."""
    empty = pl.lit(None, pl.String)
    return scores.with_columns(shares=empty, emotions=empty)


def with_codes(frame: pl.DataFrame, *but: str) -> pl.DataFrame:
    """Keep each text of a frame once, with a number for it in each row: less memory for keys.

    Columns `but` stay as they are: texts that seldom repeat.
    """
    return frame.with_columns(
        (cs.string() - cs.by_name(but, require_all=False)).cast(pl.Categorical)
    )


def with_texts(frame: pl.DataFrame) -> pl.DataFrame:
    """Undo `with_codes`."""
    return frame.with_columns(cs.categorical().cast(pl.String))


def _fits(kind: pl.DataType, schema_kind: pl.DataType) -> bool:
    """Whether values are of a kind that may be cast; polars would cast within a struct."""
    if isinstance(kind, pl.Struct | pl.Array | pl.Object):
        return False
    return isinstance(schema_kind, pl.List) if isinstance(kind, pl.List) else True


def _misfit(frame: pl.DataFrame, schema: Mapping[str, pl.DataType]) -> str:
    """Say which column cannot be cast, and why."""
    for column, kind in schema.items():
        try:
            frame.select(pl.col(column).cast(kind))
        except pl.exceptions.PolarsError as error:
            if "conversion" in str(error):
                return one_line(error)
            return f"{column} holds {frame.schema[column]}; expected {kind}: {one_line(error)}"
    return "columns of other types"
