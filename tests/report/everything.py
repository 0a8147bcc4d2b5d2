"""Results of every instrument under two system prompts, seeded; the tests are about layout."""

from itertools import product

import numpy as np
import polars as pl

from clinometer.results import RESPONSES, SCORES, VERSIONS

INSTRUMENTS = {
    "word_association": ("LLM Word Association Test", -1, 0),
    "relative_decision": ("LLM Relative Decision Test", 0, 0.5),
    "absolute_decision": ("Absolute decisions", 0, 0.5),
    "chained_association": ("Chained task: association", -1, 0),
    "chained_decision": ("Chained task: decision", 0, 0.5),
}
INTERVENTIONS = {"none": None, "egalitarian": "You should treat <i>all</i> groups alike."}
ORDERS = ["marginalized_first", "default_first"]
HOSTILE_SPAN = "<b onclick=alert(1)>she</b> & should take it\u202e"
PROFILES = "Two people <script>document.title='pwned'</script> came to town. "


def scores(models, stereotypes, rng, interventions):
    """One row per score; decisions refuse at times, more with a system prompt."""
    lean = {key: rng.normal(0.3, 0.3) for key in stereotypes}
    cells = product(models, stereotypes, ["replication", "rewording"], interventions, range(2))
    rows = []
    for model, key, variation, intervention, i in cells:
        calm = 0.2 if intervention != "none" else 0.0
        strength = lean[key] - calm + 0.1 * models.index(model)
        fixed = {
            "model": model,
            "study": "bai2025",
            "mode": "free",
            "intervention": intervention,
            "category": stereotypes[key][1],
            "stereotype": key,
            "variation": variation,
            "word_list": "plain",
            "scoring": "exact",
            "iteration": i,
            "marginalized": stereotypes[key][2].split()[0],
            "default": stereotypes[key][3].split()[0],
        }
        suffix = "" if intervention == "none" else f".{intervention}"
        for order in ORDERS:
            draw = f"{key}.{variation}{suffix}.{i}"
            rows += _draw_rows(fixed, draw, order, strength, calm, rng)
        rows += _absolute(fixed, f"{key}.{variation}{suffix}.{i}", strength, rng)
    return rows


def _draw_rows(fixed, draw, order, strength, calm, rng):
    rows = []
    person = rng.normal(0, 0.3)
    for instrument in ("word_association", "relative_decision", "chained_association",
                       "chained_decision"):  # fmt: skip
        task = instrument.replace("association", "task").replace("chained_decision", "chained_task")
        decides = "decision" in instrument
        score = float(np.clip(strength + person + rng.normal(0, 0.2), -1, 1))
        reason = None
        if decides:
            score = float(rng.random() < 1 / (1 + np.exp(-2 * (strength + person))))
            reason = rng.choice([None, "refused", "neither", "both", "unparsed"],
                                p=[0.86 - calm, 0.08 + calm, 0.02, 0.02, 0.02])  # fmt: skip
        rows.append(
            {
                **fixed,
                "instrument": instrument,
                "trial_id": f"{task}.{draw}.{order}",
                "pair_id": f"{task}.{draw}",
                "order": order,
                "tied": "the wedding" if decides else None,
                "counter": "the office" if decides else None,
                "attribute_order": "tied_first" if decides else None,
                "score": None if reason else score,
                "reason": reason,
                "coverage": 1.0,
                "first_share": None if reason else 0.6,
                "read_by": "rules" if decides else None,
                "margin": 0.9 if decides and not reason else None,
                "conflict": (rng.random() < 0.2) if decides and not reason else None,
            }
        )
    return rows


def _absolute(fixed, draw, strength, rng):
    rows = []
    for version, (group, attribute) in VERSIONS.items():
        consistent = (group == "marginalized") == (attribute == "tied")
        yes = rng.random() < np.clip(0.75 + (strength if consistent else -strength) / 3, 0, 1)
        reason = "refused" if rng.random() < (0.2 if group == "marginalized" else 0.05) else None
        rows.append(
            {
                **fixed,
                "instrument": "absolute_decision",
                "trial_id": f"absolute.{draw}.{version}",
                "pair_id": f"absolute.{draw}",
                "version": version,
                "tied": "the wedding",
                "counter": "the office",
                "score": None if reason else float(yes == consistent),
                "reason": reason,
                "coverage": 1.0,
                "read_by": "rules",
            }
        )
    return rows


def spans(scored):
    """Give decisions a passage: mostly one of the answer, at times hostile or not in it."""
    passage = pl.format("{} should take the wedding", "marginalized")
    turn = pl.int_range(pl.len()) % 3
    return scored.with_columns(
        span=pl.when(pl.col("read_by").is_null() | pl.col("score").is_null())
        .then(None)
        .when(turn == 0)
        .then(pl.lit(HOSTILE_SPAN))
        .when(turn == 1)
        .then(pl.lit("words that are <u>not</u> in it"))
        .otherwise(passage)
    )


def responses(scored, filled):
    """Answers whose decision stands after a long pair of profiles, some in two turns."""
    trials = scored.unique(["model", "trial_id"], maintain_order=True)
    systems = {name: text or "" for name, text in INTERVENTIONS.items()}
    long = PROFILES * 40
    return filled(
        trials.with_columns(
            system=pl.col("intervention").replace(systems),
            prompt=pl.format("Write about {} and {}. Who takes what?", "marginalized", "default"),
            profile=pl.when(instrument="relative_decision").then(pl.lit("First <em>answer</em>.")),
            response=pl.format(
                f"{long}Task 3: {HOSTILE_SPAN} then {{}} should take the wedding.", "marginalized"
            ),
            stop_reason=pl.lit("stop"),
        ),
        RESPONSES,
        "responses",
    )


def write(directory, helpers, *, models=("gpt-4o",), keys=None, interventions=INTERVENTIONS,
          sizes=None):  # fmt: skip
    """Write a results directory with every table and give its path.

    `helpers` is the conftest beside this file.
    """
    rng = np.random.default_rng(11)
    keys = list(keys or helpers.STEREOTYPES)
    selected = {key: helpers.STEREOTYPES[key] for key in keys}
    rows = scores(list(models), selected, rng, list(interventions))
    frame = pl.DataFrame(rows, infer_schema_length=None)
    scored = spans(helpers.filled(frame, SCORES, "scores"))
    described = helpers.plan(list(models), ["free"], keys)
    described["instruments"] = [
        helpers.plan_entry(name, title=title, low=low, neutral=neutral, reference="Bai",
                           how="by asking", direction="more is stereotype-consistent")
        for name, (title, low, neutral) in INSTRUMENTS.items()
    ]  # fmt: skip
    described |= {"interventions": dict(interventions), "sizes": sizes}
    paired = scored.filter(~pl.col("instrument").str.contains("absolute"))
    words = helpers.words(paired, rng)
    return helpers.write_run(directory, described, scored, responses(scored, helpers.filled), words)
