"""Examples of the how-to pages: commands are run and print what the page shows."""

from __future__ import annotations

import gzip
import re
import shutil
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

import pytest
from tests.docs.test_tutorials import run_commands

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared" / "data"


@dataclass(frozen=True)
class Shown:
    """A block of a page that begins with a command, and the files that it needs."""

    page: str
    begins: str
    shared: dict[str, str] = field(default_factory=dict)
    """Name in the block → file of the shared data."""
    succeeds: bool = True


EXAMPLES = [
    Shown("README.md", "clinometer audit simulated/neutral", succeeds=False),
    Shown("README.md", "clinometer score --study bai2025"),
    Shown("docs/how-to/cluster.md", "clinometer cost openai/gpt-4o-mini"),
    Shown("docs/how-to/recorded-answers.md", "clinometer score --study bai2025 --responses gpt4o"),
    Shown("docs/how-to/recorded-answers.md", "clinometer score --instrument relative_decision",
          {"chained.csv": "bai/gpt4_chained_labelled.csv"}),
    Shown("docs/how-to/gate.md", "clinometer audit simulated/neutral", succeeds=False),
    Shown("docs/how-to/even-handedness.md", "printf"),
    Shown("docs/how-to/hiring.md", "clinometer share counts.csv"),
    Shown("docs/how-to/planning.md", "clinometer power openai/gpt-4o-mini"),
    Shown("docs/how-to/networks.md", "clinometer network bias FA_Haiku_edgelist.csv --paths",
          {"FA_Haiku_edgelist.csv": "lwow/FA_Haiku_edgelist.csv"}),
    Shown("docs/how-to/networks.md", "clinometer network bias FA_Haiku_edgelist.csv --out effects",
          {"FA_Haiku_edgelist.csv": "lwow/FA_Haiku_edgelist.csv"}),
    Shown("docs/how-to/twins.md", "clinometer twins refunds"),
    Shown("docs/how-to/reasoning.md",
          "clinometer score --study rmiat2025 --instrument reasoning_cost --responses o3-mini",
          {"o3-mini.csv.gz": "rmiat/o3-mini.csv.gz"}),
]  # fmt: skip


def put_files(example: Shown, page: str, folder: Path) -> None:
    """Put what a block needs into a folder: files that its page shows, and released answers."""
    released = files("clinometer.reference") / "gpt4o_word_associations.csv.gz"
    (folder / "gpt4o.csv").write_bytes(gzip.decompress(released.read_bytes()))
    for policy in re.findall(r"^```yaml\n(name: .*?)^```", page, re.DOTALL | re.MULTILINE)[:1]:
        (folder / "policy.yaml").write_text(policy, encoding="utf-8")
    for app in re.findall(r"^```yaml\n(anything:.*?)^```", page, re.DOTALL | re.MULTILINE)[:1]:
        (folder / "app.yaml").write_text(app, encoding="utf-8")
    for table in re.findall(r"^```text\n(race,.*?)^```", page, re.DOTALL | re.MULTILINE)[:1]:
        (folder / "counts.csv").write_text(table, encoding="utf-8")
    for name, source in example.shared.items():
        if not (SHARED / source).exists():
            pytest.skip(f"needs ../shared/data/{source}")
        shutil.copy(SHARED / source, folder / name)


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: f"{Path(example.page).stem}")
def test_an_example_prints_what_its_page_shows(example: Shown, tmp_path: Path) -> None:
    page = (ROOT / example.page).read_text(encoding="utf-8")
    (block,) = re.findall(rf"^```console\n(\$ {re.escape(example.begins)}.*?)^```", page,
                          re.DOTALL | re.MULTILINE)  # fmt: skip
    put_files(example, page, tmp_path)
    wrong = run_commands(block, tmp_path, succeeds=example.succeeds)
    assert wrong is None, wrong
