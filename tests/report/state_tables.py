"""Estimates of hidden states as a run would write them, seeded; the tests are about layout."""

import json
from itertools import combinations, product

import numpy as np
import polars as pl

from clinometer.directory.results import all_tables, write_results
from clinometer.results import as_estimates
from clinometer_measures.states.measures import MEASURES

HOSTILE = "<script>alert(1)</script>{{7*7}}\u202e"
SPACES = {
    "broad": ("Warmth", "Competence"),
    "fine": ("Sociability", "Morality", "Ability", "Agency", "Status", "Politics", "Religion"),
}
WORDS = {
    "names": ("female names", "male names"),
    "terms": ("female terms", "male terms", "<i>terms</i>"),
}
INDIVIDUALS = ("nonbinary", "agender", "transgender person")
TESTS = {
    "caliskan2017": ("weat6", "weat7", "weat8"),
    "bai2025": tuple(f"stereotype_{place}" for place in range(1, 22)),
}
MISSING = ("left_out", "zero", "lowest", "highest")
FACTS = {
    "clinometer": "0.1.0",
    "created": "2026-04-01T12:00:00+00:00",
    "dictionary": {"name": "mist2025", "file": "words.json", "sha256": "ab" * 32, "terms": 341,
                   "senses": 455, "citation": "A <b>dictionary</b>."},
    "contexts": [{"kind": "generated", "file": "contexts.parquet", "sha256": "cd" * 32,
                  "contexts": 2100}],
    "words": [
        {"name": "names", "groups": {"female names": 100, "male names": 100}, "individuals": [],
         "source": "Top names of a registry."},
        {"name": "terms", "groups": {"female terms": 9}, "individuals": list(INDIVIDUALS)},
    ],
    "tests": [{"study": "caliskan2017", "tests": 3, "citation": "Caliskan et al."}],
    "setting": {"confidence": 0.95, "draws": 1000, "seed": 0, "removed": [0, 1]},
}  # fmt: skip


def labels(layers):
    return [str(layer) for layer in range(layers)]


def frame(name, rows):
    """Fill the columns nothing here is about with nulls."""
    schema = all_tables()[name].schema
    return pl.DataFrame([{**dict.fromkeys(schema), **row} for row in rows], schema=schema)


def by_method(base, **methods):
    """Give a row for each method of an estimate."""
    return [{**base, "method": name, **row} for name, row in methods.items()]


def around(value, width):
    return {"ci_low": value - width, "ci_high": value + width, "confidence": 0.95}


def lean(dimension, layer, layers):
    """Warmth grows with the layers, competence turns its sign."""
    share = 0.5 if layer == "mean" else int(layer) / max(layers - 1, 1)
    return {"Warmth": 0.5 * share, "Competence": 0.6 - 1.1 * share}.get(
        dimension, 0.5 * np.sin(len(dimension) + 3 * share)
    )


def profiles(scope, layers):
    """Profiles, differences and single words of two sets of groups."""
    rows, terms = [], []
    for words, groups in WORDS.items():
        places = product([*labels(layers), "mean"], SPACES.items())
        for layer, (space, dimensions) in places:
            for dimension in dimensions:
                keys = {**scope, "words": words, "layer": layer, "space": space,
                        "dimension": dimension}  # fmt: skip
                value = lean(dimension, layer, layers) + 0.1 * scope["removed"]
                placed = dict(zip(groups, (value, -value, 0.1), strict=False))
                rows += [
                    {**keys, "measure": "profile_mean", "method": "student", "group": group,
                     "estimate": mean, **around(mean, 0.15), "sd": 0.97, "n": 100}
                    for group, mean in placed.items()
                ]  # fmt: skip
                for a, b in combinations(groups, 2):
                    difference = placed[a] - placed[b]
                    p = (0.01, 0.02) if abs(difference) > 0.25 else (0.4, 0.4)
                    rows += by_method(
                        {**keys, "measure": "profile_difference", "first": a, "second": b,
                         "estimate": difference, "n": 200,
                         "note": "a note" if dimension == "Status" else None},
                        published={"statistic": 2.5, "df": 198.0, "p": p[0], "p_holm": p[1],
                                   "p_bh": 0.015, "effect_size": 0.4},
                        welch=around(difference, 0.25),
                        permutation={"p": 0.06 if dimension == "Warmth" else 0.01,
                                     "n_resamples": 999},
                    )  # fmt: skip
                terms += [
                    {**keys, "group": None, "term": term, "coordinate": value - 0.6 * place,
                     **(around(value - 0.6 * place, 0.3) if place else {}), "n_contexts": 7}
                    for place, term in enumerate(INDIVIDUALS * (words == "terms"))
                ]  # fmt: skip
    return rows, terms


def directions(scope, layers):
    """Accuracies, and the terms they are of."""
    dimensions = ("all", "Warmth", "Competence")
    terms = [{**scope, "space": "broad", "dimension": d, "n": 2563, "n_high": 1500}
             for d in dimensions]  # fmt: skip
    rows = []
    for layer, dimension, cut in product(
        [*labels(layers), "mean"], dimensions, ("zero", "centred")
    ):
        keys = {**scope, "instrument": "direction", "layer": layer, "space": "broad",
                "dimension": dimension, "cut": cut, "n": 2563}  # fmt: skip
        rows += [
            {**keys, "measure": "direction_accuracy", "method": "wilson",
             "estimate": 0.672 + 0.05 * (cut == "centred"), "neutral": 0.6, "ci_low": 0.63,
             "ci_high": 0.74, "confidence": 0.95},
            {**keys, "measure": "direction_balanced_accuracy", "method": "descriptive",
             "estimate": 0.65},
        ]  # fmt: skip
    return rows, terms


def properties(kinds):
    """Contexts of two terms: three and one, of 6 words, the term in the second place."""
    rows = (("contexts per term", 3, 1), ("contexts per term", 1, 1), ("words", 6, 4),
            ("position", 2, 4))  # fmt: skip
    return [
        {"contexts": kind, "role": role, "property": name, "value": value, "n": n}
        for kind, role, (name, value, n) in product(kinds, ("poles", "held-out"), rows)
    ]


def associations(scope, layers, rng, study):
    """Tests, and their words."""
    rows, tests = [], []
    for place, test in enumerate(TESTS[study]):
        for layer in labels(layers):
            effect = float(np.clip(0.9 - 0.08 * place + rng.normal(0, 0.2), -1.9, 1.9))
            p = 0.001 if effect > 0.8 else 0.3
            base = {**scope, "study": study, "stereotype": test, "measure": "weat", "layer": layer,
                    "first": "male names", "second": "female names", "toward": "career",
                    "against": "family"}  # fmt: skip
            tests.append({**base, **dict.fromkeys(("n_first", "n_second", "n_toward",
                                                   "n_against"), 8)})  # fmt: skip
            base |= {"instrument": "association_test", "estimate": effect,
                     "note": "too few words" if place == 1 else None}  # fmt: skip
            exact = {"method": "permutation", "statistic": 0.4, "test": "exact",
                     "n_resamples": 12870}  # fmt: skip
            rows += [
                {**base, **exact, "alternative": "greater", "p": p, "p_holm": p},
                {**base, **exact, "alternative": "two-sided", "p": 2 * p},
                {**base, "method": "bootstrap", **around(effect, 0.5)},
            ]
    return rows, tests


def relations(model, layers, removed):
    """Highest in the middle, lower at the end, and moved by the handling of missing answers."""
    rows = []
    for k, layer, (place, missing), level in product(
        removed, labels(layers), enumerate(MISSING), ("stereotype", "trial")
    ):
        far = abs(int(layer) - layers // 2) / max(layers, 7)
        r = 0.7 - 0.84 * far - 0.1 * place - 0.05 * k
        r = r / 3 if level == "trial" else r
        base = {"model": model, "instrument": "relation", "removed": k, "layer": layer,
                "missing_as": missing, "level": level, "n": 21}  # fmt: skip
        rows += [
            {**base, "measure": "correlation", "method": "fisher", "estimate": r,
             **around(r, 0.2), "p": 0.001, "p_holm": 0.01 if r > 0.4 else 0.5},
            {**base, "measure": "rank_correlation", "method": "descriptive",
             "estimate": r - 0.02},
        ]  # fmt: skip
    return rows


def regressions(model, layers):
    """Coefficients, and the fits behind them."""
    rows, fits = [], []
    for layer in (None, *labels(layers)):
        spoken = layer is None
        aic = 1000.0 if spoken else 1040.0 - int(layer)
        key = {"model": model, "removed": None if spoken else 0, "layer": layer,
               "missing_as": "left_out",
               "predictor": "word_association" if spoken else "hidden_states"}  # fmt: skip
        value, width = (1.2, 0.3) if spoken else (0.3, 0.2)
        rows += by_method(
            {**key, "instrument": "relation", "measure": "log_odds", "level": "trial",
             "estimate": value, "n_scored": 900},
            published={"p": 0.001, **around(value, width)},
            clustered={"p": 0.02},
        )  # fmt: skip
        fits.append({**key, "method": "published", "aic": aic, "bic": aic + 10,
                     "delta_aic": aic - 1000})  # fmt: skip
    return rows, fits


def write(directory, models=("MiniLM", HOSTILE), layers=7, removed=(0, 1), contexts=("generated",)):
    """Write every table about hidden states."""
    directory.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(5)
    ofs = [
        {"model": model, "contexts": kind, "removed": k}
        for model in models
        for kind in contexts
        for k in removed
    ]
    profile_rows, terms = zip(*(profiles(scope, layers) for scope in ofs), strict=True)
    direction_rows, predicted = zip(*(directions(scope, layers) for scope in ofs), strict=True)
    test_rows, tests = zip(
        *(associations(scope, layers, rng, study) for scope in ofs for study in TESTS), strict=True
    )
    fit_rows, fits = regressions(models[0], layers)
    rows = [row for part in (*profile_rows, *direction_rows, *test_rows) for row in part]
    rows += relations(models[0], layers, removed) + fit_rows
    details = {"state_terms": terms, "state_directions": predicted, "state_tests": tests,
               "state_fits": [fits], "state_contexts": [properties(contexts)]}  # fmt: skip
    write_results(
        directory,
        "states",
        as_estimates(rows, MEASURES, "states").with_columns(subject="model"),
        {
            name: frame(name, [row for part in scope for row in part])
            for name, scope in details.items()
        },
    )
    model_facts = [
        {"name": model, "fingerprint": "f" * 12, "layers": labels(layers), "last": "normed",
         "width": 384, "dtype": "float32"}
        for model in models
    ]  # fmt: skip
    facts = {**FACTS, "models": model_facts}
    (directory / "states.json").write_text(json.dumps(facts), encoding="utf-8")
    return directory
