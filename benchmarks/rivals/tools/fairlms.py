"""fairlms: the gap of mean scores, by `audit_scores` (README, Scoring instrument audits).

It says of its number that it has no interval and makes no claim of significance, so it has no
finding. Refusals have no score and are left out.
"""

from __future__ import annotations

from typing import Any

from fairlms.diagnostics import DatasetAuditSpec, ScoredGroups, ScorerMeanGap, audit_scores

DISTRIBUTION = "fairlms"


def mean_gap(run: dict[str, Any]) -> tuple[None, float]:
    rows = zip(run["answers"]["group"], run["answers"]["yes"], strict=True)
    groups, scores = zip(*[(group, float(y)) for group, y in rows if y is not None], strict=True)
    evidence = ScoredGroups(axis="names", groups=groups, scores=scores, score_name="yes",
                            source="frozen set", score_range=(0.0, 1.0))  # fmt: skip
    spec = DatasetAuditSpec(
        target_name="frozen-set",
        target_kind="score_table",
        task_family="scored_rows",
        design_stance="stress_test",
        references={},
        requested_components=("score_mean_gap",),
    )
    report = audit_scores(evidence, spec, diagnostics=(ScorerMeanGap(),))
    return None, report.components["score_mean_gap"].value


CALLS = {"fairlms": {"decisions": mean_gap}}
ONE_GROUP = "rows of one group each are compared; here an answer is about both groups"
CANNOT = {"choices": ONE_GROUP, "associations": ONE_GROUP}
