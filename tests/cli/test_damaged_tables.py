"""Every command that reads a table, with tables that are damaged or of other types.

The outcome is a result, or one line and exit code 2.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import date
from pathlib import Path

import polars as pl
import pytest

from clinometer.audits.recording import Recording, audit_recorded
from clinometer.report import write_report
from clinometer.scoring import score

Run = Callable[..., tuple[int, str, str]]

LINES = "weak - {0}\ntimid - {0}\nfollow - {0}\nsubmissive - {0}\nstrong - {1}\ncommand - {1}\n" \
    "confident - {1}\ndominant - {1}"  # fmt: skip
ANSWERS = [LINES.format("karen", "eric"), LINES.format("eric", "karen"), "I cannot help with that."]
RESPONSES = pl.DataFrame(
    [
        {"model": "m", "stereotype": "power", "variation": "replication", "iteration": n,
         "response": ANSWERS[n % 3], "label": str(n % 2)}
        for n in range(12)
    ]
)  # fmt: skip
WORDS = ["woman", "man", "home", "good", "bad"]
EDGES = [(a, b, float(i + j)) for i, a in enumerate(WORDS) for j, b in enumerate(WORDS) if i < j]
TABLES = {
    "a": RESPONSES,
    "net": pl.DataFrame(EDGES, schema=["src", "tgt", "wt"], orient="row"),
    "assoc": pl.DataFrame({"cue": WORDS, **{f"R{n}": WORDS[::-1] for n in (1, 2, 3)}}),
    "val": pl.DataFrame({"word": WORDS, "valence": [0.1, 0.2, 0.3, 0.9, 0.0]}),
    "emo": pl.DataFrame({"word": WORDS, "emotion": ["joy", "joy", "fear", "trust", "anger"]}),
    "pairs": pl.DataFrame({"source": ["woman"], "target": ["bad"]}),
    "reg": pl.DataFrame({"k": range(20), "x": range(20), "y": [0, 1, 1, 0] * 5, "g": [0, 1] * 10}),
    "join": pl.DataFrame({"k": [str(n) for n in range(20)], "z": [n * 7 % 5 for n in range(20)]}),
    "cues": pl.DataFrame({"cue": WORDS}),
}
COMMANDS = {
    "a": [
        "score --responses a.parquet --out o.csv",
        "audit --responses a.parquet --out o",
        "compare a.parquet r",
    ],
    "s": [
        "estimate --scores s.parquet --out o.csv",
        "contrast --scores s.parquet --factor model --baseline m --out o.csv",
        "gate s.parquet --policy p.yaml",
        "power m --pilot s.parquet --iterations 4 --stereotypes power",
        "agreement --scores s.parquet --label label --out o.csv --disagreements d.csv",
    ],
    "net": ["network stats net.parquet --out o.csv", "network streams net.parquet woman bad"],
    "val": ["network streams net.parquet woman bad --valence val.parquet"],
    "emo": ["network bias net.parquet --approach emotions --emotions emo.parquet --placebos 0 "
            "--missing skip --out o.csv"],
    "pairs": ["network streams net.parquet --pairs pairs.parquet"],
    "assoc": ["network build assoc.parquet --no-component --min-weight 1 --out o.csv"],
    "join": ["regress reg.parquet --join join.parquet --on k --predictors z --outcome y "
             "--clusters g --out o.csv"],
    "cues": ["network associate clinometer/none --cues cues.parquet --out na"],
    "r/scores": ["show r power", "compare r2 r", "gate r --policy p.yaml"],
    "r/responses": ["show r power", "report r"],
    "r/estimates": ["compare r2 r --out c", "gate r --policy p.yaml"],
}  # fmt: skip
CALLS = [(name, command) for name, commands in COMMANDS.items() for command in commands]


def _first(frame: pl.DataFrame, value: object, kind: pl.DataType) -> pl.DataFrame:
    """Give every other column values of another type."""
    replaced = [pl.lit(pl.Series([value], dtype=kind)).first().alias(c) for c in frame.columns[::2]]
    return frame.with_columns(replaced)


#: Damage → the new bytes of the file, or the new table.
BYTES: dict[str, Callable[[bytes], bytes]] = {
    "cut off": lambda data: data[: len(data) // 2],
    "no footer": lambda data: data[:-12],
    "pages": lambda data: data[:40] + bytes(byte ^ 0x10 for byte in data[40:60]) + data[60:],
    "a name twice": lambda data: data.replace(b"src", b"tgt").replace(b"model", b"study"),
}
FRAMES: dict[str, Callable[[pl.DataFrame], pl.DataFrame]] = {
    "lists": lambda f: _first(f, ["a", "b"], pl.List(pl.String())),
    "structs": lambda f: _first(f, {"a": 1}, pl.Struct({"a": pl.Int64()})),
    "binary": lambda f: _first(f, b"\xff", pl.Binary()),
    "dates": lambda f: _first(f, date(2020, 1, 1), pl.Date()),
    "nulls": lambda f: _first(f, None, pl.Null()),
    "nothing": lambda f: f.clear(),
    "long": lambda f: _first(f, "x" * 100_000, pl.String()),
    "control": lambda f: _first(f, "a\n\x00\x1b[31m\ufffe", pl.String()),
    "names": lambda f: f.rename({f.columns[-1]: "\n\x1b[31m" + "x" * 2000}),
}


@pytest.fixture(scope="module")
def intact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sound tables, and a results directory."""
    folder = tmp_path_factory.mktemp("whole")
    for name, frame in TABLES.items():
        frame.write_parquet(folder / f"{name}.parquet")
    scores, _ = score(RESPONSES, "bai2025", instrument="word_association", keep=True)
    scores.write_parquet(folder / "s.parquet")
    recording = Recording(conditions=["none"])
    audit_recorded(folder / "a.parquet", folder / "r", recording)
    audit_recorded(folder / "a.parquet", folder / "r2", recording)
    (folder / "p.yaml").write_text("name: p\nrules:\n- {what: mean, at_most: 0.2}\n")
    return folder


@pytest.fixture
def workdir(intact: Path, tmp_path: Path) -> Path:
    shutil.copytree(intact, tmp_path, dirs_exist_ok=True)
    return tmp_path


def _check(name: str, command: str, outcome: tuple[int, str, str]) -> None:
    code, _, err = outcome
    errors = [line for line in err.splitlines() if not line.startswith("clinometer: warning: ")]
    assert code in (0, 1, 2, 3), (name, command)
    assert code != 2 or len(errors) == 1, err
    assert all(line.startswith("clinometer: ") and len(line) < 1100 for line in errors), err
    assert "panicked" not in err and "/stated/" not in err and "/again/" not in err, err


@pytest.mark.parametrize(("name", "command"), CALLS)
def test_damaged_bytes(run: Run, workdir: Path, name: str, command: str) -> None:
    path = workdir / f"{name}.parquet"
    sound = path.read_bytes()
    for damage in BYTES.values():
        path.write_bytes(damage(sound))
        _check(name, command, run(*command.split()))


@pytest.mark.parametrize(("name", "command"), CALLS)
def test_other_types_and_values(run: Run, workdir: Path, name: str, command: str) -> None:
    path = workdir / f"{name}.parquet"
    sound = pl.read_parquet(path)
    for damage in FRAMES.values():
        damage(sound).write_parquet(path)
        _check(name, command, run(*command.split()))


@pytest.mark.parametrize("damage", [BYTES["cut off"], None])
def test_a_bundle_of_damaged_tables_names_them(
    run: Run, workdir: Path, damage: Callable[[bytes], bytes] | None
) -> None:
    path = workdir / "r" / "items.parquet"
    if damage:
        path.write_bytes(damage(path.read_bytes()))
    else:
        FRAMES["structs"](pl.read_parquet(path)).write_parquet(path)
    outcome = run("bundle", "r", "--out", "b.zip")
    _check("r/items", "bundle", outcome)
    assert outcome[2].startswith("clinometer: r/items.parquet: ")
    assert not (workdir / "b.zip").exists()


def test_a_text_that_cannot_be_drawn_does_not_end_the_process(workdir: Path) -> None:
    path = workdir / "r" / "estimates.parquet"
    odd = pl.lit("a\x00\x1b\ufffe\uffff")
    pl.read_parquet(path).with_columns(model=odd, stereotype=odd).write_parquet(path)
    assert write_report(workdir / "r").is_file()
