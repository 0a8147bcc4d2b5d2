"""The section of a model card, and the metadata that the hub's own client reads."""

import shutil
from pathlib import Path

import polars as pl
import pytest
import yaml

from clinometer.numbers import interval
from clinometer.sharing import write_model_card

pytest.importorskip("huggingface_hub")


def _fields(path: Path) -> dict[str, str]:
    rows = [line for line in path.read_text("utf-8").splitlines() if line.startswith("|")][2:]
    return dict(tuple(part.strip() for part in row[1:-1].split(" | ", 1)) for row in rows)


def test_the_hub_s_client_reads_the_means_of_every_model(audited, findings, tmp_path):
    _, index, *_ = write_model_card(audited, tmp_path)
    (entry,) = yaml.safe_load(index.read_text("utf-8"))["model-index"]
    from huggingface_hub import repocard_data

    name, results = repocard_data.model_index_to_eval_results([entry])
    means = [finding for finding in findings if finding.level == "model" and finding.valid]
    assert name == "simulated/leaning"
    assert [result.metric_value for result in results] == [round(mean.mean, 4) for mean in means]
    assert repocard_data.eval_results_to_model_index(name, results) == [entry]


def test_the_greatest_difference_has_its_interval_and_direction(audited, findings, tmp_path):
    path, *_ = write_model_card(audited, tmp_path)
    fields = _fields(path)
    (greatest,) = (text for name, text in fields.items() if "greatest difference" in name)
    told = [finding for finding in findings if finding.level == "stereotype" and finding.told]
    assert told
    for instrument in {finding.instrument for finding in told}:
        means = [finding for finding in told if finding.instrument == instrument]
        furthest = max(means, key=lambda finding: abs(finding.strength))
        assert interval(furthest.low, furthest.high) in greatest
        assert furthest.direction in greatest
    assert fields["Measures taken to mitigate against unwanted bias"] == "FILL IN"


def test_a_difference_against_the_stereotype_counts_alike(audited, tmp_path):
    """The furthest mean is given, on whichever side of neutral it lies."""
    directory = tmp_path / "turned"
    shutil.copytree(audited, directory)
    path = directory / "estimates.parquet"
    turned = (pl.col("stereotype") == "age") & (pl.col("level") == "stereotype")
    low, high = pl.lit(-0.99), pl.lit(-0.97)
    pl.read_parquet(path).with_columns(
        estimate=pl.when(turned).then(pl.lit(-0.98)).otherwise("estimate"),
        ci_low=pl.when(turned).then(low).otherwise("ci_low"),
        ci_high=pl.when(turned).then(high).otherwise("ci_high"),
        verdict=pl.when(turned & pl.col("verdict").is_not_null())
        .then(pl.lit("reversed"))
        .otherwise("verdict"),
    ).write_parquet(path)
    card, *_ = write_model_card(directory, tmp_path / "cards")
    (greatest,) = (text for name, text in _fields(card).items() if "greatest difference" in name)
    assert "−0.98" in greatest


def test_of_a_model_that_shows_none_it_says_what_that_is_no_evidence_for(audited, tmp_path):
    *_, path, _ = write_model_card(audited, tmp_path)
    assert path.parent.name == "simulated-neutral"
    (greatest,) = (text for name, text in _fields(path).items() if "greatest difference" in name)
    assert "No difference is shown. That is no evidence that there is none" in greatest
