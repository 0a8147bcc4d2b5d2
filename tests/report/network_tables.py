"""Tables about networks as a run would write them; the tests are about layout."""

import json

import numpy as np
import polars as pl

from clinometer.directory.results import all_tables, write_results
from clinometer.results import as_estimates
from clinometer_measures.networks.setting import MEASURES

HOSTILE = "<script>alert(1)</script>{{7*7}}\u202e"
LONG = "a network whose name goes on and on, and then on " * 3
NAMES = ("Humans", "Haiku", HOSTILE)
EMOTIONS = ("trust", "anger", "joy")
PRIMES = {"female": ["woman", "mother"], "male": ["man", "father"]}
TARGETS = {"female": ["kind", "warm", "<i>gentle</i>"], "male": ["leader", "bold", "null"]}
FACTS = {
    "clinometer": "0.1.0",
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
SPREAD = {"retention": 0.5, "time_steps": 22, "norm": "l2", "weighted": True}
ORIGIN = {"study": "abramski2025", "instrument": "association_network"}


def frame(name, rows):
    """Fill the columns nothing here is about with nulls."""
    schema = all_tables()[name].schema
    return pl.DataFrame([{**dict.fromkeys(schema), **row} for row in rows], schema=schema)


def base_row(network, identity, measure, **keys):
    sides = ("democrat", "republican") if measure == "emotion_effect" else ("female", "male")
    first, second = (None, None) if measure.startswith("valence") else sides
    return {**ORIGIN, "subject": network, "identity": identity, "measure": measure, "first": first,
            "second": second, **SPREAD, **keys}  # fmt: skip


def effect(row, value, ends, p, swapped=(None, 2), note=None):
    """Give an effect by each method: as published, with primes swapped, with targets drawn."""
    row = {"alternative": "two-sided", "n": 12, "n_clusters": 6, **row, "estimate": value}
    clusters = row.pop("n_clusters")
    low, high = ends
    return [
        {**row, "method": "published", "p": p[0], "p_holm": p[1]},
        {**row, "method": "permutation", "p": swapped[0], "n_resamples": swapped[1], "note": note},
        {**row, "method": "bootstrap", "confidence": 0.95, "ci_low": low, "ci_high": high,
         "n_clusters": clusters, "clustered_by": "target"},
    ]  # fmt: skip


def gender(network, female, male, p):
    """Two effects of published size: Haiku's are those of the released tables."""
    rows = []
    for targets, side, value, ends, swapped, note in (
        ("female", ("greater", "above"), female, (female - 0.2, female + 0.1), 1 / 32, None),
        ("male", ("less", "below"), -male, (-male - 0.1, -male + 0.2), p, "a note"),
    ):
        row = base_row(network, "gender", "activation_effect", targets=targets, alternative=side[0],
                       direction=side[1], n=125, n_clusters=25)  # fmt: skip
        rows += effect(row, value, ends, (1e-5, 2e-5), (swapped, 32), note)
    return rows


def effects(names):
    rows = []
    for place, network in enumerate(names):
        rows += gender(network, (0.686, 0.669, 0.05)[place % 3], 0.412, 3 / 32)
        for name, value, p in zip(EMOTIONS, (0.3, -0.25, 0.02), (0.001, 0.002, 0.6), strict=True):
            row = base_row(network, "party", "emotion_effect", targets=name, norm="l1")
            note = "one pair of primes: nothing"
            rows += effect(row, value, (value - 0.1, value + 0.1), (p, p), note=note)
    return rows


def coefficients(names):
    rows = []
    for place, network in enumerate(names):
        n = 900 + 100 * place
        for prime, slope in (("muslim", -0.4), ("atheist", -1.5), ("jewish", 0.9)):
            row = base_row(network, "religion", "valence_slope", prime=prime, n=n, estimate=slope)
            rows += [
                {**row, "method": "published", "se": 0.1, "p": 0.01},
                {**row, "method": "robust", "ci_low": slope - 0.2, "ci_high": slope + 0.2,
                 "confidence": 0.95, "p": 0.001},
            ]  # fmt: skip
        joint = base_row(network, "religion", "valence_joint", level="identity", n=n)
        joint["estimate"] = (40 / n) ** 0.5
        rows += [{**joint, "method": method, "p": p, "statistic": 40.0, "df": 2.0}
                 for method, p in (("published", 0.2), ("robust", 0.001))]  # fmt: skip
    return rows


def activations(names):
    rng = np.random.default_rng(3)
    return frame(
        "network_activations",
        [
            {"network": network, "study": "abramski2025", "identity": "gender", "group": category,
             "prime": prime, "targets": targets, "target": target, "activation": 9.0,
             "normalised": round(float(rng.uniform(0, 0.9)), 3)}
            for network in names
            for targets, words in TARGETS.items()
            for target in words
            for category, primes in PRIMES.items()
            for prime in primes
        ],
    )  # fmt: skip


def paths(names):
    """Consistent paths are .35 hops shorter, beyond the placebos in all networks but the last."""
    rows = []
    for place, network in enumerate(names):
        for targets, value in ((None, 0.35), ("female", 0.6), ("male", 0.1)):
            level = "targets" if targets else "identity"
            row = base_row(network, "gender", "path_difference", level=level, targets=targets,
                           estimate=value, n=12)  # fmt: skip
            p = 0.2 if place == len(names) - 1 else 0.01
            placed = {"placebo_mean": 0.02, "placebo_low": -0.3, "placebo_high": 0.3,
                      "confidence": 0.95, "n_resamples": 999}  # fmt: skip
            rows += [
                {**row, "method": "permutation", "p": 0.25, "n_resamples": 4},
                {**row, "method": "bootstrap", "confidence": 0.95, "ci_low": value - 0.2,
                 "ci_high": value + 0.2, "n_clusters": 6, "clustered_by": "target"},
                {**row, "method": "placebo", "p": p, **placed},
                {**row, "method": "placebo_targets", "p": 0.001, **placed},
            ]  # fmt: skip
    return rows


def hops(names):
    """Two hops from primes of the own category, three from one of the other and none from one."""
    return frame(
        "network_paths",
        [
            {"network": network, "study": "abramski2025", "identity": "gender", "group": category,
             "prime": prime, "targets": targets, "target": target,
             "hops": 2 if category == targets else 3 if place else None}
            for network in names
            for targets, words in TARGETS.items()
            for target in words
            for category, primes in PRIMES.items()
            for place, prime in enumerate(primes)
        ],
    )  # fmt: skip


def differences(names):
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    kinds = [("gender", "activation_effect", name) for name in ("female", "male")]
    kinds += [("party", "emotion_effect", name) for name in EMOTIONS]
    rows = []
    for identity, measure, targets in kinds:
        for candidate, baseline in pairs:
            row = {**base_row(None, identity, measure, targets=targets), **dict.fromkeys(SPREAD),
                   "factor": "subject", "candidate": candidate, "baseline": baseline}  # fmt: skip
            side = {"female": "above", "male": "below"}.get(targets)
            rows.append({**row, "method": "bootstrap", "estimate": 0.3, "ci_low": 0.1,
                         "ci_high": 0.6, "confidence": 0.95, "p": 0.01, "p_holm": 0.03,
                         "n_clusters": 25, "direction": side})  # fmt: skip
            rows.append({**row, "measure": "rank_correlation", "method": "descriptive",
                         "estimate": 0.61})  # fmt: skip
    return rows


def sensitivity(names):
    """Four times the steps (the sign turns), no norm (p grows), and the default's norm."""
    rows = []
    for network in names:
        base = base_row(network, "gender", "activation_effect", targets="female", direction="above")
        for varied, change, value, p in (
            ("time_steps", {"time_steps": 88}, -0.06, 0.7),
            ("norm", {"norm": "none"}, 0.1, 0.3),
            ("norm", {"norm": "l2"}, 0.4, 0.01),
        ):
            rows.append({**base, **change, "varied": varied, "method": "published",
                         "estimate": value, "p": p})  # fmt: skip
        for norm, share in (("l1", 1.0), ("l2", 0.5), ("none", 2.0)):
            rows += [
                {**base_row(network, "party", "emotion_effect", targets=name), "norm": norm,
                 "varied": "norm", "method": "published", "estimate": value * share, "p": 0.04}
                for name, value in zip(EMOTIONS, (0.3, -0.25, 0.02), strict=True)
            ]  # fmt: skip
    return rows


def rewired(names):
    """Beyond chance: female and valence; not beyond it: male and the emotions."""
    rows = []
    for network in names:
        for key, value, middle, ends, p, alarms in (
            (("gender", "activation_effect", "female"), 0.6, 0.1, (-0.5, 0.3), 0.01, 0.48),
            (("gender", "activation_effect", "male"), -0.4, 0.1, (-0.5, 0.3), 0.2, 0.48),
            *((("party", "emotion_effect", name), 0.2, 0.0, (-0.4, 0.4), 0.5, 0.66)
              for name in EMOTIONS),
            *((("religion", "valence_slope", name), value, 0.0, (-0.1, 0.1), 0.02, 0.0)
              for name, value in (("muslim", -0.4), ("jewish", 0.9))),
            (("religion", "valence_joint", None), 0.2, 0.0, (-0.1, 0.1), 0.02, 0.0),
        ):  # fmt: skip
            identity, measure, name = key
            row = base_row(network, identity, measure, method="rewired", n_resamples=99)
            row |= {"prime" if measure == "valence_slope" else "targets": name}
            row |= {"norm": "l1"} if identity == "party" else {}
            row |= {"level": "identity"} if measure == "valence_joint" else {}
            side = {"female": "above", "male": "below"}.get(name)
            rows.append({**row, "estimate": value, "placebo_mean": middle, "p": p,
                         "placebo_low": ends[0], "placebo_high": ends[1], "confidence": 0.95,
                         "direction": side})  # fmt: skip
            rows.append({**row, "measure": "false_alarm_rate", "estimate": alarms})
    return rows


def priming(names):
    values = zip(names, (-0.66, 0.1, -0.3) * 9, strict=False)
    return [
        {"subject": name, "measure": measure, "method": "published", "n": 50, "time_steps": 22,
         "estimate": value, "p": p}
        for name, correlation in values
        for measure, value, p in (
            ("priming_correlation", correlation, 0.001), ("priming_effect", 0.87, 0.002)
        )
    ]  # fmt: skip


def estimates(names):
    """Everything that was measured; `MAKERS` names what gives each part."""
    rows = [row for make in MAKERS.values() for row in make(names)]
    return as_estimates(rows, MEASURES, "networks")


MAKERS = {
    "effects": effects,
    "coefficients": coefficients,
    "differences": differences,
    "rewired": rewired,
    "sensitivity": sensitivity,
    "priming": priming,
    "paths": paths,
}


def streams(names):
    stream_keys = [
        {"network": network, "source": "feminine", "target": "kind"} for network in names
    ]
    words = [("feminine", 0, "positive"), ("soft", 1, "neutral"), ("kind", 2, "positive")]
    nodes = [
        {**keys, "word": word, "hop": hop, "tone": tone, "paths": "1", "shown": True}
        for keys in stream_keys
        for word, hop, tone in words
    ]
    edges = [
        {**keys, "src": src, "tgt": tgt, "weight": 3.0, "paths": "1", "shown": True}
        for keys in stream_keys
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
        "network_absences": frame("network_absences", [
            {"network": name, "study": "abramski2025", "identity": "gender", "targets": "male",
             "absent": ["athiest"]} for name in names
        ]),
        "network_activations": activations(names),
        "network_paths": hops(names),
        "network_stream_nodes": nodes,
        "network_stream_edges": edges,
    }  # fmt: skip
    write_results(directory, "networks", estimates(names), tables)
    facts = {**FACTS, "networks": list(names)}
    (directory / "networks.json").write_text(json.dumps(facts), encoding="utf-8")
    return directory
