"""Tables about networks as a run would write them; the tests are about layout."""

import json

import numpy as np
import polars as pl

from tiltmeter.results.networks import NETWORK_TABLES

HOSTILE = "<script>alert(1)</script>{{7*7}}\u202e"
LONG = "a network whose name goes on and on, and then on " * 3
NAMES = ("Humans", "Haiku", HOSTILE)
EMOTIONS = ("trust", "anger", "joy")
PRIMES = {"female": ["woman", "mother"], "male": ["man", "father"]}
TARGETS = {"female": ["kind", "warm", "<i>gentle</i>"], "male": ["leader", "bold", "null"]}
FACTS = {
    "tiltmeter": "0.1.0",
    "created": "2026-03-01T12:00:00+00:00",
    "study": {
        "name": "abramski2025",
        "title": "A <b>study</b> of networks",
        "citation": "Abramski, Rossetti & Stella (2025).",
        "bibtex": "@misc{abramski2025network}",
        "notes": ["Here it is atheist."],
        "identities": {"party": {"label": "Political party", "approach": "emotions"}},
    },
    "networks": list(NAMES),
    "files": [{"of": "Haiku", "file": "haiku.csv", "sha256": "ab" * 32}, "no mapping"],
    "setting": {"retention": 0.5, "time_steps": None, "weighted": True, "seed": [1]},
}
SPREAD = {"retention": 0.5, "time_steps": 22, "norm": "l2"}


def frame(name, rows):
    """Fill the columns nothing here is about with nulls."""
    schema = NETWORK_TABLES[name]
    return pl.DataFrame([{**dict.fromkeys(schema), **row} for row in rows], schema=schema)


def about(network, identity, approach):
    return {"network": network, "study": "abramski2025", "identity": identity, "approach": approach}


def effect(network, identity, approach, targets, **values):
    first, second = ("democrat", "republican") if approach == "emotions" else ("female", "male")
    return {
        **about(network, identity, approach), **SPREAD, "targets": targets, "first": first,
        "second": second, "alternative": "two-sided", "confidence": 0.95, "missing": [],
        "n": 12, "n_targets": 6, **values,
    }  # fmt: skip


def gender(network, female, male, p):
    """Two effects of published size: Haiku's are those of the released tables."""
    numbers = {"n": 125, "n_targets": 25, "n_permutations": 32, "p": 1e-5, "p_holm": 2e-5}
    return [
        effect(network, "gender", "stereotypes", "female", **numbers, effect=female,
               stereotype=female, ci_low=female - 0.2, ci_high=female + 0.1, p_permutation=1 / 32,
               alternative="greater"),
        effect(network, "gender", "stereotypes", "male", **numbers, effect=-male, stereotype=male,
               ci_low=-male - 0.1, ci_high=-male + 0.2, p_permutation=p, alternative="less",
               ) | {"missing": ["athiest"], "note": "a note"},
    ]  # fmt: skip


def effects(names):
    rows = []
    for place, network in enumerate(names):
        rows += gender(network, (0.686, 0.669, 0.05)[place % 3], 0.412, 3 / 32)
        rows += [
            effect(network, "party", "emotions", name, norm="l1", effect=value, p=p, p_holm=p,
                   ci_low=value - 0.1, ci_high=value + 0.1, note="one pair of primes: nothing")
            for name, value, p in zip(EMOTIONS, (0.3, -0.25, 0.02), (0.001, 0.002, 0.6),
                                      strict=True)
        ]  # fmt: skip
    return frame("network_effects", rows)


def coefficients(names):
    rows = []
    for place, network in enumerate(names):
        shared = {**about(network, "religion", "valence"), **SPREAD, "confidence": 0.95,
                  "missing": [], "n": 900 + 100 * place, "n_nodes": 2000}  # fmt: skip
        rows += [
            {**shared, "prime": prime, "coefficient": slope, "se": 0.1, "ci_low": slope - 0.2,
             "ci_high": slope + 0.2, "p": 0.01, "p_robust": 0.001}
            for prime, slope in (("muslim", -0.4), ("atheist", -1.5), ("jewish", 0.9))
        ]  # fmt: skip
        rows.append({**shared, "wald": 40.0, "wald_df": 2, "p": 0.2, "p_robust": 0.001,
                     "effect": (40 / shared["n"]) ** 0.5})  # fmt: skip
    return frame("network_coefficients", rows)


def activations(names):
    rng = np.random.default_rng(3)
    return frame(
        "network_activations",
        [
            {**about(network, "gender", "stereotypes"), "category": category, "prime": prime,
             "targets": targets, "target": target, "activation": 9.0,
             "normalised": round(float(rng.uniform(0, 0.9)), 3)}
            for network in names
            for targets, words in TARGETS.items()
            for target in words
            for category, primes in PRIMES.items()
            for prime in primes
        ],
    )  # fmt: skip


def differences(names):
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    kinds = [("gender", "stereotypes", "female"), ("gender", "stereotypes", "male")]
    kinds += [("party", "emotions", name) for name in EMOTIONS]
    return frame(
        "network_differences",
        [
            {"study": "abramski2025", "identity": identity, "approach": approach,
             "targets": targets, "network_a": a, "network_b": b, "difference": 0.3, "ci_low": 0.1,
             "ci_high": 0.6, "confidence": 0.95, "p": 0.01, "p_holm": 0.03, "n_targets": 25,
             "correlation": 0.61}
            for identity, approach, targets in kinds
            for a, b in pairs
        ],
    )  # fmt: skip


def sensitivity(names):
    """Default, four times the steps (the sign turns), no norm (p grows), and the default's norm."""
    rows = []
    for network in names:
        of = {**about(network, "gender", "stereotypes"), "targets": "female", "weighted": True}
        for varied, change, value, p, turned in (
            ("nothing", {}, 0.4, 0.01, False),
            ("time_steps", {"time_steps": 88}, -0.06, 0.7, True),
            ("norm", {"norm": "none"}, 0.1, 0.3, False),
            ("norm", {"norm": "l2"}, 0.4, 0.01, False),
        ):
            rows.append({**of, **SPREAD, **change, "varied": varied, "effect": value,
                         "stereotype": value, "p": p, "turned": turned})  # fmt: skip
    return frame("network_sensitivity", rows)


def chance(names):
    """Beyond chance: female and valence; not beyond it: male and the emotions."""
    rows = []
    for network in names:
        shared = {**SPREAD, "confidence": 0.95, "n_rewired": 99}
        for targets, value, p, side in (
            ("female", 0.6, 0.01, "greater"), ("male", -0.4, 0.2, "less")
        ):  # fmt: skip
            rows.append({**about(network, "gender", "stereotypes"), **shared, "targets": targets,
                         "effect": value, "stereotype": abs(value), "chance": 0.1,
                         "chance_low": -0.5, "chance_high": 0.3, "p_chance": p, "p": 1e-5,
                         "alternative": side, "false_alarms": 0.48})  # fmt: skip
        rows += [
            {**about(network, "party", "emotions"), **shared, "targets": name, "effect": 0.2,
             "chance": 0.0, "chance_low": -0.4, "chance_high": 0.4, "p_chance": 0.5, "p": 0.001,
             "alternative": "two-sided", "false_alarms": 0.66}
            for name in EMOTIONS
        ]  # fmt: skip
        rows += [
            {**about(network, "religion", "valence"), **shared, "targets": prime, "effect": value,
             "chance": 0.0, "chance_low": -0.1, "chance_high": 0.1, "p_chance": 0.02, "p": 0.01,
             "alternative": "two-sided" if prime else "greater", "false_alarms": 0.0}
            for prime, value in (("muslim", -0.4), ("jewish", 0.9), (None, 0.2))
        ]  # fmt: skip
    return frame("network_chance", rows)


def streams(names):
    of = [{"network": network, "source": "feminine", "target": "kind"} for network in names]
    words = [("feminine", 0, "positive"), ("soft", 1, "neutral"), ("kind", 2, "positive")]
    nodes = [
        {**one, "word": word, "layer": layer, "tone": tone, "paths": "1", "shown": True}
        for one in of
        for word, layer, tone in words
    ]
    edges = [
        {**one, "src": src, "tgt": tgt, "weight": 3.0, "paths": "1", "shown": True}
        for one in of
        for src, tgt in (("feminine", "soft"), ("soft", "kind"))
    ]
    return frame("network_stream_nodes", nodes), frame("network_stream_edges", edges)


def write(directory, names=NAMES):
    """Write every table about networks."""
    directory.mkdir(parents=True, exist_ok=True)
    nodes, edges = streams(names)
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    tables = {
        "networks": frame("networks", [
            {"network": name, "nodes": 15596, "edges": 64599, "density": 0.00053,
             "average_degree": 8.28, "components": 1, "diameter": 11, "mean_path_length": 4.98,
             "path_sources": 500 if name == "Haiku" else None, "clustering": 0.186}
            for name in names
        ]),
        "network_overlaps": frame("network_overlaps", [
            {"network_a": a, "network_b": b, "of": "nodes", "only_a": 0.4, "shared": 0.53,
             "only_b": 0.18, "n_a": 10, "n_b": 9, "n_shared": 6} for a, b in pairs
        ]),
        "network_effects": effects(names),
        "network_coefficients": coefficients(names),
        "network_differences": differences(names),
        "network_chance": chance(names),
        "network_sensitivity": sensitivity(names),
        "network_priming": frame("network_priming", [
            {"network": name, "n": 50, "spearman": value, "p": 0.001, "effect": 0.87,
             "effect_p": 0.002, "missing": [], "time_steps": 22}
            for name, value in zip(names, (-0.66, 0.1, -0.3) * 9, strict=False)
        ]),
        "network_activations": activations(names),
        "network_stream_nodes": nodes,
        "network_stream_edges": edges,
    }  # fmt: skip
    for name, table in tables.items():
        table.write_parquet(directory / f"{name}.parquet")
    facts = {**FACTS, "networks": list(names)}
    (directory / "networks.json").write_text(json.dumps(facts), encoding="utf-8")
    return directory
