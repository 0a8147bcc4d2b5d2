"""Tables about representation as a run would write them, seeded; the tests are about layout."""

import json
from itertools import combinations, product

import numpy as np
import polars as pl

from tiltmeter.results.states import REPRESENTATION_TABLES

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
    "tiltmeter": "0.1.0",
    "created": "2026-04-01T12:00:00+00:00",
    "dictionary": {"name": "mist2025", "file": "words.json", "sha256": "ab" * 32, "terms": 341,
                   "senses": 455, "citation": "A <b>dictionary</b>."},
    "contexts": {"kind": "generated", "file": "contexts.parquet", "sha256": "cd" * 32,
                 "contexts": 2100},
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
    schema = REPRESENTATION_TABLES[f"representation_{name}"]
    return pl.DataFrame([{**dict.fromkeys(schema), **row} for row in rows], schema=schema)


def around(value, width):
    return {"ci_low": value - width, "ci_high": value + width, "confidence": 0.95}


def lean(dimension, layer, layers):
    """Warmth grows with the layers, competence turns its sign."""
    share = 0.5 if layer == "mean" else int(layer) / max(layers - 1, 1)
    return {"Warmth": 0.5 * share, "Competence": 0.6 - 1.1 * share}.get(
        dimension, 0.5 * np.sin(len(dimension) + 3 * share)
    )


def profiles(of, layers):
    """Profiles, differences and single words of two sets of groups."""
    means, differences, terms = [], [], []
    for words, groups in WORDS.items():
        at = product([*labels(layers), "mean"], SPACES.items())
        for layer, (space, dimensions) in at:
            for dimension in dimensions:
                here = {**of, "words": words, "layer": layer, "space": space,
                        "dimension": dimension}  # fmt: skip
                value = lean(dimension, layer, layers) + 0.1 * of["removed"]
                placed = dict(zip(groups, (value, -value, 0.1), strict=False))
                means += [
                    {**here, "group": group, "mean": mean, **around(mean, 0.15), "sd": 0.97,
                     "raw": 0.1, "n": 100}
                    for group, mean in placed.items()
                ]  # fmt: skip
                differences += [
                    {**here, "first": a, "second": b, "difference": placed[a] - placed[b],
                     **around(placed[a] - placed[b], 0.25), "t": 2.5, "df": 198.0,
                     "p": 0.01 if abs(placed[a] - placed[b]) > 0.25 else 0.4,
                     "p_holm": 0.02 if abs(placed[a] - placed[b]) > 0.25 else 0.4,
                     "p_bh": 0.015, "p_permutation": 0.06 if dimension == "Warmth" else 0.01,
                     "n_permutations": 999, "d": 0.4, "n_first": 100, "n_second": 100,
                     "note": "a note" if dimension == "Status" else None}
                    for a, b in combinations(groups, 2)
                ]  # fmt: skip
                terms += [
                    {**here, "group": None, "term": term, "value": value - 0.6 * place,
                     **(around(value - 0.6 * place, 0.3) if place else {}), "n_contexts": 7}
                    for place, term in enumerate(INDIVIDUALS * (words == "terms"))
                ]  # fmt: skip
    return frame("profiles", means), frame("differences", differences), frame("terms", terms)


def directions(of, layers):
    at = product([*labels(layers), "mean"], ("all", "Warmth", "Competence"), ("zero", "centred"))
    return [
        {**of, "layer": layer, "space": "broad", "dimension": dimension, "cut": cut,
         "accuracy": 0.672 + 0.05 * (cut == "centred"), "balanced": 0.65, "majority": 0.6,
         "ci_low": 0.63, "ci_high": 0.74, "confidence": 0.95, "n": 2563, "n_high": 1500}
        for layer, dimension, cut in at
    ]  # fmt: skip


def associations(of, layers, rng, study):
    rows = []
    for place, test in enumerate(TESTS[study]):
        for layer in labels(layers):
            effect = float(np.clip(0.9 - 0.08 * place + rng.normal(0, 0.2), -1.9, 1.9))
            p = 0.001 if effect > 0.8 else 0.3
            rows.append(
                {**of, "study": study, "test": test, "method": "weat", "layer": layer,
                 "first": "male names", "second": "female names", "toward": "career",
                 "against": "family", "effect": effect, **around(effect, 0.5), "statistic": 0.4,
                 "p": p, "p_two_sided": 2 * p, "p_holm": p, "exact": True,
                 "n_partitions": 12870, "n_first": 8, "n_second": 8, "n_toward": 8,
                 "n_against": 8, "note": "too few words" if place == 1 else None}
            )  # fmt: skip
    return rows


def relations(model, layers, removed):
    """Highest in the middle, lower at the end, and moved by the handling of missing answers."""
    rows = []
    for k, layer, (place, missing), level in product(
        removed, labels(layers), enumerate(MISSING), ("stereotype", "trial")
    ):
        far = abs(int(layer) - layers // 2) / max(layers, 7)
        r = 0.7 - 0.84 * far - 0.1 * place - 0.05 * k
        r = r / 3 if level == "trial" else r
        rows.append(
            {"model": model, "removed": k, "layer": layer, "missing": missing, "level": level,
             "r": r, **around(r, 0.2), "p": 0.001, "p_holm": 0.01 if r > 0.4 else 0.5,
             "rho": r - 0.02, "n": 21}
        )  # fmt: skip
    return rows


def fits(model, layers):
    of = {"model": model, "removed": 0, "missing": "left_out", "n": 900, "p": 0.001,
          "p_clustered": 0.02}  # fmt: skip
    spoken = {**of, "layer": None, "predictor": "word_association", "coefficient": 1.2,
              **around(1.2, 0.3), "aic": 1000.0, "bic": 1010.0, "delta_aic": 0.0}  # fmt: skip
    return [spoken] + [
        {**of, "layer": layer, "predictor": "representation", "coefficient": 0.3,
         **around(0.3, 0.2), "aic": 1040.0 - int(layer), "bic": 1050.0 - int(layer),
         "delta_aic": 40.0 - int(layer)}
        for layer in labels(layers)
    ]  # fmt: skip


def write(directory, models=("MiniLM", HOSTILE), layers=7, removed=(0, 1)):
    """Write every table about representation."""
    directory.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(5)
    ofs = [
        {"model": model, "contexts": "generated", "removed": k} for model in models for k in removed
    ]
    means, differences, terms = zip(*(profiles(of, layers) for of in ofs), strict=True)
    tests = [row for of in ofs for study in TESTS for row in associations(of, layers, rng, study)]
    tables = {
        "profiles": pl.concat(means),
        "differences": pl.concat(differences),
        "terms": pl.concat(terms),
        "directions": frame("directions", [row for of in ofs for row in directions(of, layers)]),
        "associations": frame("associations", tests),
        "relations": frame("relations", relations(models[0], layers, removed)),
        "fits": frame("fits", fits(models[0], layers)),
    }
    for name, table in tables.items():
        table.write_parquet(directory / f"representation_{name}.parquet")
    told = [
        {"name": model, "fingerprint": "f" * 12, "layers": labels(layers), "last": "normed",
         "width": 384, "dtype": "float32"}
        for model in models
    ]  # fmt: skip
    facts = {**FACTS, "models": told}
    (directory / "representation.json").write_text(json.dumps(facts), encoding="utf-8")
    return directory
