"""The pages of a dossier: all of it, and a summary of one page for the public."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clinometer.dossier.chapters import chapters, findings_chapter, law_chapter
from clinometer.dossier.content import NEVER_TESTED
from clinometer.pieces.prose import full_stop
from clinometer.pieces.sections import Term
from clinometer.report.document import render_page

#: Outcome of the gate → what it says of the limits.
_LIMITS = {
    "pass": "what was measured lies within the limits",
    "fail": "a limit is broken",
    "inconclusive": "it cannot be told whether the limits are met",
}

#: Sentences on what was found, of which the table of marks has all.
MOST_SENTENCES = 5


def dossier_page(content: Mapping[str, Any]) -> str:
    """Return a dossier as one self-contained page."""
    title = f"Dossier: {content['profile']['system']['name']}"
    context = {"title": title, "content": content, "chapters": chapters(content)}
    return render_page("dossier.html.j2", {}, context)


def public_page(content: Mapping[str, Any]) -> str:
    """Return the summary for the public, of one printed page."""
    profile = content["profile"]
    findings = content["findings"]
    sentences = [*findings["validity"], *findings["for_public"], *findings["further"]]
    # What is said in people needs no table of scores.
    has_scores = not all(mean["in_people"] for mean in findings["means"])
    marks = findings_chapter(content, most=0).tables if has_scores else ()
    untested = [
        f"{group['name']}: {group['not_measured']}"
        for group in profile["groups"]
        if group["not_measured"]
    ]
    context = {
        "title": f"Bias test of {profile['system']['name']}: summary",
        "content": content,
        "terms": _public_terms(content),
        "sentences": list(map(full_stop, sentences[:MOST_SENTENCES])),
        "marks": marks,
        "law": law_chapter(content),
        "untested": [*untested, *NEVER_TESTED],
    }
    return render_page("public.html.j2", {}, context)


def _public_terms(content: Mapping[str, Any]) -> list[Term]:
    """Say what was tested, whether limits are met, what is done, and who answers for it."""
    profile, policy = content["profile"], content["policy"]
    following = profile["next_test"]
    groups = [group["name"] for group in profile["groups"] if group["measured_by"]]
    return [
        Term("Used for", profile["use"]),
        Term("Model", f"{profile['system']['model']}, asked on {content['run']['created'][:10]}"),
        Term("Tested for", ", ".join(groups) or "no group"),
        Term("Limits", f"{policy['outcome']}: {_LIMITS[policy['outcome']]}"),
        Term("Declared", policy["declaration"]),
        Term("Response", profile["response"]),
        Term("Who answers for it", profile["owner"]),
        Term("Next test", f"{following['date']}, or earlier: {following['trigger']}"),
        Term("Seal of the evidence", content["verified"]["seal"] or "none", "code"),
    ]
