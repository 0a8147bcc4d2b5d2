import numpy as np
import polars as pl
import pytest
import scipy.linalg
import scipy.stats
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint, proportions_ztest
from statsmodels.stats.weightstats import DescrStatsW

from clinometer.errors import InputError
from clinometer.statistics import clustered_mean
from clinometer.statistics.clustered import (
    ClusteredMean,
    adjusted,
    benjamini_hochberg,
    holm,
    mean_of_clusters,
    naive_t,
)


def clustered_sample(sizes: list[int], seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    return rng.normal(0.2, 1, len(sizes))[labels] + rng.normal(0, 0.5, len(labels)), labels


def dense_cr2(y: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    """CR2 and Satterthwaite df from the matrices of Pustejovsky & Tipton (2018), eqs 5, 6 and 11.

    Written for any regressors and with no closed form: A_g is the inverse symmetric square root
    of (I − H)_gg, and Ω_gh = p_g'p_h with p_g = (I − H)_g' A_g X_g M c.
    """
    x = np.ones((len(y), 1))
    m = np.linalg.inv(x.T @ x)
    annihilator = np.eye(len(y)) - x @ m @ x.T
    residual = annihilator @ y
    vectors, variance = [], 0.0
    for label in np.unique(labels):
        is_member = labels == label
        a = np.linalg.inv(scipy.linalg.sqrtm(annihilator[np.ix_(is_member, is_member)]))
        weight = a @ x[is_member] @ m
        variance += ((weight.T @ residual[is_member]) ** 2).item()
        vectors.append((annihilator[is_member].T @ weight).ravel())
    p = np.column_stack(vectors)
    omega = p.T @ p
    return variance**0.5, np.trace(omega) ** 2 / np.trace(omega @ omega)


@pytest.mark.parametrize("sizes", [[3, 5], [1, 1, 2], [4, 4, 4], [1, 2, 3, 9, 20], [7] * 12])
def test_closed_form_is_the_matrix_form(sizes):
    y, labels = clustered_sample(sizes)
    se, df = dense_cr2(y, labels)
    result = clustered_mean(y, labels)
    assert result.se == pytest.approx(se, rel=1e-10)
    assert result.df == pytest.approx(df, rel=1e-10)


def test_clusters_of_equal_size_are_statas_cr1():
    """Balanced, CR2 equals G/(G−1)·(N−1)/(N−1) times CR0: statsmodels' cov_type="cluster"."""
    y, labels = clustered_sample([6] * 9)
    fit = sm.OLS(y, np.ones(len(y))).fit(cov_type="cluster", cov_kwds={"groups": labels})
    result = clustered_mean(y, labels)
    assert result.se == pytest.approx(fit.bse[0], rel=1e-12)
    assert result.df == pytest.approx(8)


def test_single_values_are_the_one_sample_t_test():
    y, _ = clustered_sample([1] * 15)
    result = clustered_mean(y, np.arange(15))
    reference = scipy.stats.ttest_1samp(y, 0.1)
    assert result.df == pytest.approx(14)
    assert result.t(0.1) == pytest.approx(reference.statistic)
    assert result.p(0.1) == pytest.approx(reference.pvalue)
    assert result.interval(0.9) == pytest.approx(tuple(reference.confidence_interval(0.9)))


def test_one_sided_p_sum_to_one():
    result = clustered_mean(*clustered_sample([3, 4, 5]))
    assert result.p_above(0.1) + result.p_below(0.1) == pytest.approx(1)
    assert result.p(0.1) == pytest.approx(2 * min(result.p_above(0.1), result.p_below(0.1)))


def test_one_cluster_has_a_mean_but_no_error():
    result = clustered_mean([0.1, 0.2], ["a", "a"], bounds=(-1, 1))
    assert result.mean == pytest.approx(0.15)
    assert (result.se, result.df, result.t(), result.p()) == (None, None, None, None)
    assert result.interval() == (None, None)


def test_nothing_is_no_mean():
    result = clustered_mean([], [])
    assert (result.n, result.n_clusters, result.mean, result.p()) == (0, 0, None, None)


@pytest.mark.parametrize(("values", "clusters"), [([1, 2], ["a"]), ([[1]], [["a"]])])
def test_a_label_for_each_value(values, clusters):
    with pytest.raises(InputError, match="one label for each"):
        clustered_mean(values, clusters)


def test_nan_is_refused():
    with pytest.raises(InputError, match="nan"):
        clustered_mean([1, float("nan")], ["a", "b"])


def test_unanimous_clusters_have_no_t_but_an_exact_p():
    """Ten clusters at 1: if the mean is 0, nine more agree with the first with p = (½)⁹."""
    result = clustered_mean([1.0] * 20, np.arange(20) // 2, bounds=(-1, 1))
    assert result.unanimous
    assert (result.se, result.t()) == (0.0, None)
    assert result.p(0.0) == pytest.approx(0.5**9)


def test_unanimity_is_of_cluster_means():
    """A habit of order: 1 and 0 in every mirrored pair, so ½ in each."""
    result = clustered_mean([1, 0] * 6, np.arange(12) // 2, bounds=(0, 1))
    assert result.unanimous
    assert result.p(0.5) == 1.0


def test_unanimous_without_bounds_claims_nothing():
    result = clustered_mean([0.3] * 4, [1, 1, 2, 2])
    assert (result.p(), result.interval()) == (None, (None, None))


@pytest.mark.parametrize("value", [-1.0, -0.4, 0.0, 0.3, 1.0])
@pytest.mark.parametrize("clusters", [2, 5, 40])
def test_unanimous_interval_holds_what_its_test_keeps(value, clusters):
    result = mean_of_clusters([2] * clusters, [2 * value] * clusters, bounds=(-1, 1))
    low, high = result.interval(0.95)
    assert -1 <= low <= value <= high <= 1
    for null in np.linspace(-1, 1, 201):
        if min(abs(null - low), abs(null - high)) > 1e-9:
            assert (result.p(null) >= 0.05) == (low <= null <= high)


@pytest.mark.parametrize("clusters", [2, 3, 8, 30])
def test_unanimous_interval_misses_less_often_than_it_may(clusters):
    """Exact: clusters are 1 with probability q, else −1; all agree with q^G + (1−q)^G."""
    for q in np.linspace(0, 1, 101):
        missed = 0.0
        for value, chance in ((1.0, q**clusters), (-1.0, (1 - q) ** clusters)):
            agreed = mean_of_clusters([1] * clusters, [value] * clusters, bounds=(-1, 1))
            low, high = agreed.interval(0.95)
            missed += chance * (not low <= 2 * q - 1 <= high)
        assert missed <= 0.05


def share(successes: int, n: int, low: float = 0.0, high: float = 1.0) -> ClusteredMean:
    """Return the mean of n answers at the ends of a scale, with the variance of a share of 1/3."""
    mean, scale = low + (high - low) * successes / n, (high - low) ** 2 * 2 / 9
    return ClusteredMean(n, n, mean, (scale / n) ** 0.5, 1e12, bounds=(low, high), scale=scale)


@pytest.mark.parametrize("confidence", [0.8, 0.95])
@pytest.mark.parametrize(("successes", "n"), [(0, 7), (1, 7), (3, 10), (50, 200), (200, 200)])
def test_interval_on_a_scale_is_wilsons(successes, n, confidence):
    """Or Clopper and Pearson's, if it is wider, where all answers are at one end."""
    wilson, exact = (
        proportion_confint(successes, n, 1 - confidence, method=name) for name in ("wilson", "beta")
    )
    widest = min(wilson[0], exact[0]), max(wilson[1], exact[1])
    expected = widest if successes in (0, n) else wilson
    assert share(successes, n).interval(confidence) == pytest.approx(expected, abs=1e-9)
    rescaled = [2 * end - 1 for end in expected]
    assert share(successes, n, -1.0).interval(confidence) == pytest.approx(rescaled, abs=1e-9)


@pytest.mark.parametrize(("successes", "n"), [(0, 7), (3, 10), (50, 200)])
@pytest.mark.parametrize("null", [0.2, 0.5])
def test_p_on_a_scale_is_that_of_the_score_test(successes, n, null):
    for alternative, method in (("two-sided", "p"), ("larger", "p_above"), ("smaller", "p_below")):
        _, expected = proportions_ztest(successes, n, null, alternative, prop_var=null)
        if successes == 0 and alternative != "larger":
            exact = binomtest(0, n, null, "less").pvalue
            expected = max(expected, exact * (2 if alternative == "two-sided" else 1))
        assert getattr(share(successes, n), method)(null) == pytest.approx(expected)


@given(
    st.floats(-1, 1), st.floats(1e-3, 1), st.floats(1, 50), st.floats(0.1, 1), st.floats(0.5, 0.999)
)
def test_interval_on_a_scale_lies_inside_and_holds_what_the_test_keeps(
    mean, se, df, scale, confidence
):
    result = ClusteredMean(9, 9, mean, se, df, bounds=(-1.0, 1.0), scale=scale)
    low, high = result.interval(confidence)
    assert -1 <= low <= mean + 1e-9 and mean - 1e-9 <= high <= 1
    for null in np.linspace(-0.995, 0.995, 41):
        if min(abs(null - low), abs(null - high)) > 1e-6:
            assert (result.p(null) >= 1 - confidence) == (low <= null <= high)


def test_a_true_mean_at_an_end_allows_no_other_score():
    assert (share(1, 9).p(0.0), share(0, 9).p(1.0), share(8, 9).p(1.0)) == (0.0, 0.0, 0.0)


def test_few_answers_that_agree_do_not_lean():
    """Half of all pairs of answers agree where there is no lean, and an eighth of four."""
    for n, expected in ((2, 0.5), (4, 0.125)):
        agreeing = ClusteredMean(n, n, 1.0, 0.1, 9.0, bounds=(-1.0, 1.0), scale=0.5)
        assert agreeing.p(0.0) == pytest.approx(expected)
        assert agreeing.interval()[0] < 0 < agreeing.interval()[1] == 1.0


SAMPLE = np.random.default_rng(3).normal(0.05, 0.4, 60)


def test_naive_t_is_scipys():
    result = naive_t(SAMPLE.mean(), SAMPLE.std(ddof=1), 60, neutral=0.1)
    reference = scipy.stats.ttest_1samp(SAMPLE, 0.1)
    assert result["statistic"] == pytest.approx(reference.statistic)
    assert result["p"] == pytest.approx(reference.pvalue)
    assert result["df"] == reference.df
    assert result["se"] == pytest.approx(scipy.stats.sem(SAMPLE))


def test_naive_t_without_spread_has_no_t():
    assert naive_t(0.5, 0.0, 9) == {"se": 0.0, "df": 8.0}


def test_naive_t_of_one_score_is_none():
    assert naive_t(0.5, None, 1) == {}


@pytest.mark.parametrize("neutral", [0.0, 0.2])
def test_tost_of_single_values_is_statsmodels(neutral):
    reference = DescrStatsW(SAMPLE).ttost_mean(neutral - 0.15, neutral + 0.15)[0]
    result = clustered_mean(SAMPLE, np.arange(60)).tost(0.15, neutral)
    assert result == pytest.approx(reference)


def test_tost_rejects_exactly_when_the_two_alpha_interval_lies_within_the_margin():
    estimate = clustered_mean(SAMPLE, np.arange(60) // 4)
    edge = max(map(abs, estimate.interval(0.9)))
    assert estimate.tost(edge) == pytest.approx(0.05)


def test_tost_of_one_cluster_is_none():
    assert clustered_mean([0.0, 0.1], [1, 1]).tost(0.1) is None


def test_holm_by_hand():
    """Holm (1979): max over earlier of (m − i + 1)·p."""
    assert holm(np.array([0.04, 0.01, 0.03, 0.02])) == pytest.approx([0.06, 0.04, 0.06, 0.06])


@pytest.mark.parametrize("tests", [0, 1, 30])
def test_holm_is_statsmodels(tests):
    p = np.random.default_rng(0).uniform(0, 0.2, tests).round(2)
    expected = multipletests(p, method="holm")[1] if tests else p
    assert holm(p) == pytest.approx(expected)


@pytest.mark.parametrize("tests", [1, 4, 30])
def test_benjamini_hochberg_is_scipys(tests):
    p = np.random.default_rng(0).uniform(0, 0.2, tests).round(2)
    assert (benjamini_hochberg(p) == scipy.stats.false_discovery_control(p)).all()


def test_p_is_adjusted_within_a_family_over_what_was_tested():
    frame = pl.DataFrame({"of": [1, 2, 1, 1, 2], "p": [0.01, 0.02, None, 0.04, None]})
    adjusted_p = frame.select(p=adjusted(holm, "of"))["p"].to_list()
    assert adjusted_p == pytest.approx([0.02, 0.02, None, 0.04, None])


@pytest.mark.parametrize(
    ("clusters", "smallest", "icc"), [(84, 30, 0.3), (84, 5, 0.05), (12, 5, 0.3), (8, 5, 0.1)]
)
def test_clustered_interval_covers_and_naive_does_not(clusters, smallest, icc):
    """Of clustered data with a known mean."""
    rng, mean, replications = np.random.default_rng([clusters, smallest]), 0.2, 3000
    sizes = rng.integers(smallest, 51, clusters)
    starts, n = np.r_[0, np.cumsum(sizes)[:-1]], sizes.sum()
    covered = naive = 0
    for _ in range(replications):
        effects = rng.normal(mean, icc**0.5, clusters)
        y = np.repeat(effects, sizes) + rng.normal(0, (1 - icc) ** 0.5, n)
        low, high = mean_of_clusters(sizes, np.add.reduceat(y, starts)).interval(0.95)
        covered += low <= mean <= high
        half = scipy.stats.norm.ppf(0.975) * y.std(ddof=1) / n**0.5
        naive += abs(y.mean() - mean) <= half
    assert 0.93 <= covered / replications <= 0.97
    assert naive / replications < 0.8


@pytest.mark.parametrize("se", np.linspace(0.01, 0.3, 30))
def test_an_interval_of_a_mean_at_the_end_of_the_scale_ends_there(se):
    """Not at .9999999999999999, which would leave out a true mean of 1."""
    mean = ClusteredMean(50, 5, 1.0, se, 7.0, bounds=(-1.0, 1.0), scale=0.04)
    low, high = mean.interval()
    assert low < high == 1.0
    mirrored = ClusteredMean(50, 5, -1.0, se, 7.0, bounds=(-1.0, 1.0), scale=0.04)
    assert mirrored.interval() == pytest.approx((-1.0, -low))
    assert mirrored.interval()[0] == -1.0
