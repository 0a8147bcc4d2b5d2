"""The example of the page on Python."""

from __future__ import annotations

from pathlib import Path

import polars as pl

import clinometer as cm


def test_from_a_study_file_to_estimates(tmp_path: Path) -> None:
    (tmp_path / "pets.yaml").write_text(
        "name: pets\nstereotypes:\n  cats:\n    marginalized: [cat, kitten]\n"
        "    default: [dog, puppy]\n    tied: [aloof, sly, lazy, selfish]\n"
        "    counter: [loyal, brave, friendly, clever]\n"
    )
    study = cm.load_study(str(tmp_path / "pets.yaml"))
    trials = cm.draw(study, cm.Design(iterations=10))
    tied = study.stereotypes["cats"].tied
    answers = trials.with_columns(
        model=pl.lit("m"),
        response=pl.Series(
            "\n".join(f"{w}: {trial['marginalized' if w in tied else 'default']}" for w in words)
            for trial in trials.iter_rows(named=True)
            for words in [trial["attributes"]]
        ),
    )
    scored = cm.score(answers, study)
    scores, words = scored
    assert scores["score"].to_list() == [1.0] * 30  # three wordings, ten trials each
    assert set(words["share"]) == {0.0, 1.0}
    estimates = cm.estimate(scored)
    assert estimates.equals(cm.estimate(scores))
    cats = estimates.filter(level="stereotype", method="clustered").row(0, named=True)
    assert (cats["estimate"], cats["verdict"], cats["n"]) == (1.0, "consistent", 30)
