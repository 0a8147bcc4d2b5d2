import numpy as np
import polars as pl
import pytest
import scipy.integrate
import scipy.stats
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st

from clinometer.errors import InputError
from clinometer.papers.logistic import Regression, compare_predictors, regress
from clinometer.papers.logit import fit_logit, separation, standardise
from clinometer.papers.random_effects import fit_mixed
from clinometer.papers.samples import Fit
from clinometer.results import ESTIMATES
from clinometer.results.schemas import FITS


def with_fits(regression: Regression) -> pl.DataFrame:
    """Set the fit beside each coefficient."""
    return regression.estimates.hstack(regression.fits.drop(set(ESTIMATES) & set(FITS)))


def only(
    regression: Regression, method: str = "published", part: str = "all", component: str = "total"
) -> dict:
    rows = with_fits(regression).filter(method=method, part=part, component=component)
    assert rows.height == 1
    return rows.row(0, named=True)


@pytest.fixture(scope="module")
def chained(shared_data) -> pl.DataFrame:
    """The 309 of the 617 chained answers of Bai et al. (2025) that are here."""
    path = shared_data / "bai" / "gpt4_chained_labelled.csv"
    return pl.read_csv(path, infer_schema_length=None)


def check_against_statsmodels(row: dict, x: np.ndarray, y: np.ndarray) -> None:
    fit = sm.Logit(y, sm.add_constant(x)).fit(disp=0, tol=1e-14)
    expected = {
        "intercept": fit.params[0],
        "estimate": fit.params[1],
        "intercept_se": fit.bse[0],
        "se": fit.bse[1],
        "covariance": fit.cov_params()[0, 1],
        "statistic": fit.tvalues[1],
        "p": fit.pvalues[1],
        "ci_low": fit.conf_int()[1, 0],
        "ci_high": fit.conf_int()[1, 1],
        "log_likelihood": fit.llf,
        "ll_null": fit.llnull,
        "pseudo_r2": fit.prsquared,
        "llr_p": fit.llr_pvalue,
        "aic": fit.aic,
        "bic": fit.bic,
    }
    for column, value in expected.items():
        assert row[column] == pytest.approx(value, rel=1e-8), column


def test_published_is_statsmodels_on_the_released_answers(chained):
    row = only(regress(chained, "iat_bias", response_variable="decision_bias"))
    assert (row["n_scored"], row["n_ones"], row["n_missing"]) == (309, 212, 0)
    check_against_statsmodels(
        row, chained["iat_bias"].to_numpy(), chained["decision_bias"].to_numpy()
    )


def test_half_the_answers_come_near_the_table_of_all(chained):
    """SI table 15, all 617 answers: .9858 (se .119), intercept .4571 (.103), R² .097."""
    row = only(regress(chained, "iat_bias", response_variable="decision_bias"))
    assert abs(row["estimate"] - 0.9858) < 0.119
    assert abs(row["intercept"] - 0.4571) < 0.103
    assert row["pseudo_r2"] == pytest.approx(0.09711, abs=0.01)
    assert row["se"] == pytest.approx(0.119 * 2**0.5, rel=0.1)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e5])
def test_published_is_statsmodels_on_drawn_answers(draw_decisions, scale):
    frame = draw_decisions()
    row = only(regress(frame.with_columns(pl.col("score") * scale), "score"))
    x, y = frame["score"].to_numpy(), frame["decision"].to_numpy()
    plain = only(regress(frame, "score"))
    check_against_statsmodels(plain, x, y)
    assert row["estimate"] * scale == pytest.approx(plain["estimate"], rel=1e-9)
    assert row["aic"] == pytest.approx(plain["aic"], rel=1e-12)


#: SI tables 15 and 16: log-likelihood, AIC, BIC, pseudo R² and p of the likelihood ratio.
PRINTED = [
    (-338.68, 681.36, 690.21, 0.09711, 1.398e-17),
    (-369.33, 742.65, 751.50, 0.01541, 0.0006730),
]


@pytest.mark.parametrize("printed", PRINTED)
def test_printed_tables_hold_our_identities(printed):
    ll, aic, bic, r2, llr_p = printed
    ll_null = -375.11
    criteria = Fit(np.zeros(2), np.eye(2), ll).criteria(617)
    assert criteria["aic"] == pytest.approx(aic, abs=0.0151)
    assert criteria["bic"] == pytest.approx(bic, abs=0.0151)
    assert 1 - ll / ll_null == pytest.approx(r2, abs=2e-5)
    assert scipy.stats.chi2.sf(2 * (ll - ll_null), 1) == pytest.approx(llr_p, rel=0.02)


def dense_cr2(x, y, labels):
    """CR2 and df from the full matrices of the linearised fit (Pustejovsky & Tipton 2018)."""
    design = sm.add_constant(x)
    p = sm.Logit(y, design).fit(disp=0, tol=1e-14).predict()
    root_v = np.sqrt(p * (1 - p))
    whitened, residual = design * root_v[:, None], (y - p) / root_v
    bread = np.linalg.inv(whitened.T @ whitened)
    annihilator = np.eye(len(y)) - whitened @ bread @ whitened.T
    meat, vectors = np.zeros((2, 2)), []
    for label in np.unique(labels):
        members = labels == label
        values, basis = np.linalg.eigh(annihilator[np.ix_(members, members)])
        weight = basis @ np.diag(values**-0.5) @ basis.T @ whitened[members] @ bread
        meat += np.outer(weight.T @ residual[members], weight.T @ residual[members])
        vectors.append(annihilator[members].T @ weight[:, 1])
    omega = np.column_stack(vectors).T @ np.column_stack(vectors)
    return meat, np.trace(omega) ** 2 / np.trace(omega @ omega)


@pytest.mark.parametrize(("n", "clusters"), [(60, 4), (120, 9), (90, 40)])
def test_clustered_is_the_matrix_form(draw_decisions, n, clusters):
    frame = draw_decisions(n, clusters)
    row = only(regress(frame, "score", clusters="cluster"), "clustered")
    covariance, df = dense_cr2(*(frame[c].to_numpy() for c in ("score", "decision", "cluster")))
    assert row["intercept_se"] ** 2 == pytest.approx(covariance[0, 0], rel=1e-7)
    assert row["se"] ** 2 == pytest.approx(covariance[1, 1], rel=1e-7)
    assert row["covariance"] == pytest.approx(covariance[0, 1], rel=1e-7)
    assert row["df"] == pytest.approx(df, rel=1e-7)
    assert row["p"] == pytest.approx(2 * scipy.stats.t.sf(abs(row["statistic"]), df), rel=1e-7)


def test_many_clusters_need_no_correction(draw_decisions):
    """With 2000 clusters CR2 comes to statsmodels' covariance, whose correction is then 1."""
    frame = draw_decisions(4000, 2000)
    row = only(regress(frame, "score", clusters="cluster"), "clustered")
    design = sm.add_constant(frame["score"].to_numpy())
    kwds = {"groups": frame["cluster"].to_numpy()}
    fit = sm.Logit(frame["decision"].to_numpy(), design).fit(
        disp=0, cov_type="cluster", cov_kwds=kwds
    )
    assert row["se"] == pytest.approx(fit.bse[1], rel=2e-3)


def test_clusters_of_one_mind_but_for_chance_give_no_number_or_a_finite_one(draw_decisions):
    frame = draw_decisions(31, 10, sd=6, seed=30)
    row = only(regress(frame, "score", clusters="cluster"), "mixed", component="within")
    assert (row["note"] is None) == (row["converged"] is True)
    assert row["cluster_sd"] is None or row["cluster_sd"] <= 20


X = [-1.0, -0.8, -0.5, -0.2, 0.0, 0.1, 0.3, 0.5, 0.7, 1.0]


@pytest.mark.parametrize(
    ("score", "decision", "note"),
    [
        (X, [0] * 5 + [1] * 5, "complete separation"),
        (X, [1] * 5 + [0] * 5, "complete separation"),
        ([-1] * 4 + [0] * 2 + [1] * 4, [0] * 5 + [1] * 5, "quasi-complete separation"),
        ([0] * 5 + [1] * 5, [0, 1, 0, 1, 0] + [1] * 5, "quasi-complete separation"),
        (X, [1] * 10, "outcome does not vary"),
        ([0.1 + 0.2] * 5 + [0.3] * 5, [0, 1] * 5, "predictor does not vary"),
        (X[:9], [0, 1] * 4 + [1], "fewer than 10 rows"),
        ([*X[:9], None], [0, 1] * 5, "fewer than 10 rows"),
    ],
)
def test_no_number_but_a_note(score, decision, note, capfd):
    frame = pl.DataFrame({"score": score, "decision": decision}, strict=False)
    frame = frame.with_columns(cluster=pl.int_range(pl.len()) % 3)
    result = with_fits(regress(frame, "score", clusters="cluster"))
    assert result["note"].to_list() == [note] * 6
    assert result.select("estimate", "se", "p", "aic", "log_likelihood").null_count().row(0) == (
        (6,) * 5
    )
    assert capfd.readouterr().err == ""


def test_almost_separated_is_fitted():
    decision = [0, 0, 0, 0, 1, 0, 1, 1, 1, 1]
    row = only(regress(pl.DataFrame({"score": X, "decision": decision}), "score"))
    assert row["note"] is None
    check_against_statsmodels(row, np.array(X), np.array(decision))


def test_clusters_can_stand_in_the_way_of_their_rows_alone(draw_decisions):
    frame = pl.DataFrame({"score": X, "decision": [0, 1, 0, 0, 1, 0, 1, 1, 0, 1]})
    single = regress(frame.with_columns(cluster=pl.lit("a")), "score", clusters="cluster")
    assert single.estimates["note"].to_list() == single.fits["note"].to_list()
    few, none = "fewer than 2 clusters", "predictor does not vary between clusters"
    assert single.estimates["note"].to_list() == [None, few, few, none, few, none]
    alike = regress(frame.with_columns(cluster="decision"), "score", clusters="cluster")
    assert only(alike, "mixed", component="within")["note"] == "complete separation"
    uniform = draw_decisions().with_columns(pl.col("cluster") * 2 + pl.col("decision"))
    regression = regress(uniform, "score", clusters="cluster")
    assert only(regression, "mixed", component="within")["note"] == (
        "outcome does not vary within clusters"
    )
    saturated = frame.with_columns(score=pl.int_range(10) % 2, cluster=pl.int_range(10) % 2)
    regression = regress(saturated, "score", clusters="cluster")
    assert only(regression, "clustered")["note"] == "no variance between clusters"
    assert only(regression, "mixed", component="within")["note"] == (
        "predictor does not vary within clusters"
    )
    assert only(regression, "mixed", component="between")["note"] == "fewer than 3 clusters"


def test_planes_separate_too():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 2))
    parted = (x.sum(axis=1) > 0).astype(float)
    assert separation(parted, x) == "complete separation"
    parted[np.abs(x.sum(axis=1)).argmax()] = 1 - parted[np.abs(x.sum(axis=1)).argmax()]
    assert separation(parted, x) is None
    frame = pl.DataFrame({"a": x[:, 0], "b": x[:, 1], "decision": x.sum(axis=1) > 0})
    rows = compare_predictors(frame, ["a", "b"], joint=True)
    assert rows.fits["note"].to_list() == [None] * 3 + ["complete separation"] * 2


def test_no_rows_are_no_numbers():
    empty = pl.DataFrame(schema={"score": pl.Float64, "decision": pl.Int64, "cluster": pl.String})
    result = regress(empty, "score", clusters="cluster", by="cluster")
    assert result.estimates["note"].to_list() == ["fewer than 10 rows"] * 6
    assert (result.estimates.schema, result.fits.schema) == (ESTIMATES, FITS)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"predictor": "other"}, "missing column other"),
        ({"predictor": "decision"}, "also a predictor"),
        ({"response_variable": "score"}, "also a predictor"),
        ({"response_variable": "cluster"}, "1, 0 and null are"),
        ({"predictor": "word"}, "word: needs numbers"),
        ({"predictor": "broken"}, "broken: nan"),
        ({"clusters": "holed"}, "holed: null in 10 rows"),
        ({"by": "named"}, "called 'all'"),
        ({"confidence": 95}, "confidence 95"),
    ],
)
def test_bad_input_is_one_line(draw_decisions, change, message):
    frame = draw_decisions(20, 4).with_columns(
        word=pl.lit("x"),
        broken=pl.lit(float("nan")),
        holed=pl.when(pl.int_range(20) < 10).then(1),
        named=pl.lit("all"),
    )
    with pytest.raises(InputError, match=message) as error:
        regress(frame, **{"predictor": "score", **change})
    assert "\n" not in str(error.value)


def test_parts_stand_beside_all(draw_decisions):
    frame = draw_decisions().with_columns(category=pl.col("cluster") % 3)
    result = regress(frame, "score", by="category", clusters="cluster")
    alone = regress(frame.filter(category=1), "score", clusters="cluster")
    for table, alone_table in zip(result, alone, strict=True):
        assert table["part"].unique(maintain_order=True).to_list() == ["all", "0", "1", "2"]
        assert table.filter(part="1").drop("part").equals(alone_table.drop("part"))


def test_missing_rows_are_counted_and_left_out(draw_decisions):
    frame = draw_decisions(100)
    holed = frame.with_columns(score=pl.when(pl.int_range(100) >= 7).then("score"))
    row = only(regress(holed, "score"))
    assert (row["n"], row["n_scored"], row["n_missing"]) == (100, 93, 7)
    assert row["estimate"] == only(regress(frame.tail(93), "score"))["estimate"]


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.floats(0.01, 100), st.floats(-5, 5))
def test_unit_and_origin_of_the_predictor_change_nothing_else(draw_decisions, seed, scale, shift):
    frame = draw_decisions(80, 8, seed=seed)
    moved = frame.with_columns(pl.col("score") * -scale + shift)
    for a, b in zip(
        with_fits(regress(frame, "score", clusters="cluster")).iter_rows(named=True),
        with_fits(regress(moved, "score", clusters="cluster")).iter_rows(named=True),
        strict=True,
    ):
        assert a["note"] == b["note"]
        if a["note"] is None:
            assert b["estimate"] * -scale == pytest.approx(a["estimate"], rel=1e-4, abs=1e-5)
            assert b["p"] == pytest.approx(a["p"], rel=1e-3, abs=1e-9)
            assert b["log_likelihood"] == pytest.approx(a["log_likelihood"], rel=1e-8)


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.integers(12, 40), st.integers(1, 12))
def test_never_nan(draw_decisions, seed, n, clusters):
    frame = draw_decisions(n, clusters, sd=2, slope=3, seed=seed)
    result = regress(frame, "score", clusters="cluster", by="cluster")
    compared = compare_predictors(frame.with_columns(b=pl.col("score") ** 2), ["score", "b"])
    for table in (*result, *compared):
        numbers = table.select(pl.selectors.float())
        finite = numbers.select(pl.all().drop_nulls().is_finite().all())
        assert finite.row(0) == (True,) * numbers.width
    estimates = result.estimates
    assert estimates.filter(pl.col("estimate").is_null() == pl.col("note").is_null()).is_empty()


def test_copied_clusters_are_caught_by_clustering(draw_decisions):
    """Nine copies of each row in its cluster divide the naive error by 3; the robust one stays."""
    frame = draw_decisions(150, 15)
    once = regress(frame, "score", clusters="cluster")
    copied = regress(pl.concat([frame] * 9), "score", clusters="cluster")
    assert only(copied)["se"] == pytest.approx(only(once)["se"] / 3, rel=1e-6)
    ratio = only(copied, "clustered")["se"] / only(once, "clustered")["se"]
    assert ratio == pytest.approx(1, rel=1e-6)


@pytest.fixture
def two(draw_decisions) -> pl.DataFrame:
    noise = np.random.default_rng(1).normal(size=240)
    return draw_decisions().with_columns(
        noise=pl.Series(noise), half=pl.when(pl.int_range(240) % 2 == 0).then(1.0 + pl.col("score"))
    )


def test_models_are_compared_on_the_same_rows(two):
    estimates, rows = compare_predictors(two, ["score", "noise", "half"])
    assert (estimates.schema, rows.schema) == (ESTIMATES, FITS)
    assert rows["formula"].to_list() == ["1", "1 + score", "1 + noise", "1 + half"]
    assert estimates["n_scored"].to_list() == [120] * 4
    assert rows.select("n", "n_missing").unique().rows() == [(240, 120)]
    same = rows.filter(pl.col("predictor").is_in(["score", "half"]))
    assert same["aic"][0] == pytest.approx(same["aic"][1])


def test_comparison_is_statsmodels_and_akaike(two):
    rows = with_fits(compare_predictors(two, ["score", "noise"], joint=True))
    y = two["decision"].to_numpy()
    design = sm.add_constant(two.select("score", "noise").to_numpy())
    column_sets = ([0], [0, 1], [0, 2], [0, 1, 2])
    fits = [sm.Logit(y, design[:, list(k)]).fit(disp=0, tol=1e-14) for k in column_sets]
    models = rows.unique("formula", maintain_order=True)
    assert models["aic"].to_list() == pytest.approx([f.aic for f in fits], rel=1e-10)
    assert models["bic"].to_list() == pytest.approx([f.bic for f in fits], rel=1e-10)
    assert models["n_parameters"].to_list() == [1, 2, 2, 3]
    assert models["pseudo_r2"].to_list() == pytest.approx([f.prsquared for f in fits], abs=1e-9)
    weights = np.exp(-0.5 * np.array([f.aic for f in fits]))
    assert models["akaike_weight"].to_list() == pytest.approx(weights / weights.sum(), rel=1e-6)
    assert models["delta_aic"].min() == models["delta_bic"].min() == 0
    joint = rows.filter(formula="1 + score + noise")
    assert joint["predictor"].to_list() == ["score", "noise"]
    assert joint["estimate"].to_list() == pytest.approx(fits[3].params[1:], rel=1e-7)
    assert joint["se"].to_list() == pytest.approx(fits[3].bse[1:], rel=1e-7)
    assert joint["p"].to_list() == pytest.approx(fits[3].pvalues[1:], rel=1e-6)


def test_comparison_with_random_intercepts(two):
    rows = with_fits(compare_predictors(two, ["score", "noise"], clusters="cluster"))
    assert rows["method"].to_list() == ["published"] * 3 + ["mixed"] * 3
    mixed = rows.filter(method="mixed", formula="1 + score").row(0, named=True)
    design, back = standardise(two["score"].to_numpy()[:, None])
    y, member = two["decision"].to_numpy().astype(float), two["cluster"].to_numpy()
    fitted = fit_mixed(y, design, member, start=fit_logit(y, design).params)
    assert mixed["estimate"] == pytest.approx((back @ fitted.coefficients)[1], rel=1e-9)
    assert mixed["aic"] == pytest.approx(2 * 3 - 2 * fitted.log_likelihood, rel=1e-9)
    assert rows.group_by("method").agg(pl.col("akaike_weight").sum())[
        "akaike_weight"
    ].to_list() == pytest.approx([1, 1])


def test_collinear_predictors_have_no_joint_model(two):
    twice = two.with_columns(again=2 * pl.col("score") - 1)
    rows = compare_predictors(twice, ["score", "again"], joint=True).fits
    assert rows["note"].to_list() == [None] * 3 + ["predictors are collinear"] * 2
    assert rows["akaike_weight"].drop_nulls().sum() == pytest.approx(1)


@pytest.mark.parametrize("predictors", [[], ["score", "score"]])
def test_each_predictor_once(two, predictors):
    with pytest.raises(InputError, match="at least one, and each once"):
        compare_predictors(two, predictors)


def test_the_prompt_predicts_better_than_the_embedding_of_another_model(chained, shared_data):
    """As the paper finds; here the layer WEAT of Llama 3 8B, averaged over a stereotype."""
    path = shared_data / "bai" / "llama3_8b_prompts_and_layer_weat.csv"
    layer = pl.read_csv(path, infer_schema_length=None)
    layer = layer.group_by(stereotype="category").agg(weat=pl.col("weat31").mean())
    with_layer = chained.join(layer, on="stereotype")
    assert with_layer.height > 250
    rows = compare_predictors(
        with_layer, ["iat_bias", "weat"], response_variable="decision_bias"
    ).fits
    aic = dict(rows.select("formula", "aic").rows())
    assert aic["1 + iat_bias"] + 10 < min(aic["1 + weat"], aic["1"])
