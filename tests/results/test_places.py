"""Results elsewhere: fsspec's file system in memory, and an S3 server on this machine."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import fsspec
import polars as pl
import pytest

import clinometer as cm
from clinometer.errors import InputError, PlanError
from clinometer.results import places
from clinometer.results.locks import only_process
from clinometer.results.places import is_elsewhere, open_place
from forking import Commands
from waiting import until

RUN = "memory://bucket/run"

RECORDED = pl.DataFrame(
    {
        "model": ["m"] * 4,
        "stereotype": ["age"] * 4,
        "variation": ["replication"] * 4,
        "iteration": [0, 1, 2, 3],
        "response": ["old - agony, young - joyful, old - awful, young - superb"] * 4,
    }
)


@pytest.fixture(autouse=True)
def caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep copies in a folder of the test, and nothing in the memory of another."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    fsspec.filesystem("memory").store.clear()
    return tmp_path / "caches"


def test_what_is_an_address() -> None:
    addresses = "s3://bucket/run", "memory://run", Path("s3://bucket/run"), "gs://b/c d/é"
    assert all(map(is_elsewhere, addresses))
    paths = "results/run", Path("/tmp/run"), r"C:\results", "C:/results", "a:b", "", None, 3
    assert not any(map(is_elsewhere, paths))


def test_a_local_path_is_used_as_it_is(tmp_path: Path) -> None:
    with open_place(tmp_path / "run") as path:
        assert path == tmp_path / "run"
    with open_place(f"file://{tmp_path}/run") as path:
        assert path == tmp_path / "run"


def test_changes_are_put_back(caches: Path) -> None:
    with open_place(RUN) as path:
        (path / "answers").mkdir(parents=True)
        (path / "answers" / "0.jsonl").write_text("1\n")
        (path / "plan.json").write_text("{}")
    with open_place(RUN) as path:
        with (path / "answers" / "0.jsonl").open("a") as file:
            file.write("2\n")
        (path / "plan.json").unlink()
    paths = fsspec.filesystem("memory").find("bucket")
    assert paths == ["/bucket/run/answers/0.jsonl"]
    assert fsspec.filesystem("memory").cat(paths[0]) == b"1\n2\n"


def test_what_is_newer_there_is_copied() -> None:
    store = fsspec.filesystem("memory")
    with open_place(RUN) as path:
        path.mkdir(parents=True)
        (path / "kept").write_text("1")
        (path / "removed").write_text("1")
    store.pipe_file("/bucket/run/kept", b"22")
    store.pipe_file("/bucket/run/new", b"3")
    store.rm_file("/bucket/run/removed")
    with open_place(RUN) as path:
        assert {file.name: file.read_text() for file in path.iterdir()} == {
            "kept": "22",
            "new": "3",
        }


def test_a_copy_that_was_left_is_put_back_by_the_next() -> None:
    with open_place(RUN) as path:
        path.mkdir(parents=True)
    (path / "answers.jsonl").write_text("of a process that was killed\n")
    with open_place(RUN) as path:
        assert (path / "answers.jsonl").exists()
    assert fsspec.filesystem("memory").find("bucket") == ["/bucket/run/answers.jsonl"]


def test_a_process_killed_while_it_copied_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b"):
        fsspec.filesystem("memory").pipe_file(f"/bucket/run/{name}", name.encode())
    with monkeypatch.context() as killed:
        killed.setattr(places.Place, "_write_agreed", lambda place, agreed: 1 / 0)
        with pytest.raises(ZeroDivisionError), open_place(RUN):
            pass
    with open_place(RUN) as path:
        assert {file.name: file.read_text() for file in path.iterdir()} == {"a": "a", "b": "b"}


def test_a_file_changed_here_and_there_stays_in_both() -> None:
    store = fsspec.filesystem("memory")
    with open_place(RUN) as path:
        path.mkdir(parents=True)
        (path / "answers.jsonl").write_text("1\n")
    with (
        pytest.raises(InputError, match="changed there by another process") as error,
        open_place(RUN),
    ):
        (path / "answers.jsonl").write_text("1\nhere\n")
        store.pipe_file("/bucket/run/answers.jsonl", b"1\nthere, and more\n")
    assert str(path) in str(error.value)
    with pytest.raises(InputError, match="changed there"), open_place(RUN):
        pass
    assert store.cat("/bucket/run/answers.jsonl") == b"1\nthere, and more\n"
    assert (path / "answers.jsonl").read_text() == "1\nhere\n"


def test_what_is_written_meanwhile_is_put_back_now_and_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(places, "PUT_EVERY_S", 0.01)
    store = fsspec.filesystem("memory")
    with open_place(RUN) as path:
        path.mkdir(parents=True)
        (path / "answers.jsonl").write_text("1\n")
        until(lambda: store.exists("/bucket/run/answers.jsonl"))


def test_a_name_that_leads_out_is_refused() -> None:
    store = fsspec.filesystem("memory")
    store.pipe_file("/bucket/run/in", b"1")
    store.store["/bucket/run/../../out"] = store.store["/bucket/run/in"]
    with pytest.raises(InputError, match="leads out of its directory"), open_place(RUN):
        pass


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("nothing://bucket/run", "Protocol not known"),
        ("abfs://bucket/run", "adlfs"),
    ],
)
def test_an_address_that_is_not_reached_is_named(address: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as error, open_place(address):
        pass
    assert str(error.value).startswith(address)


def test_functions_take_addresses(tmp_path: Path) -> None:
    cm.audit_recorded(RECORDED, tmp_path / "run", command="")
    cm.audit_recorded(RECORDED, RUN, command="")
    remote, local = cm.read_results(RUN), cm.read_results(tmp_path / "run")
    assert remote.estimates.equals(local.estimates)
    assert cm.estimate(f"{RUN}/scores.parquet").equals(
        cm.estimate(local.directory / "scores.parquet")
    )
    cm.write_report(RUN)
    assert fsspec.filesystem("memory").exists("/bucket/run/report.html")


NEEDED = ("moto", "flask", "flask_cors", "s3fs")
needs_s3 = pytest.mark.skipif(
    not all(map(importlib.util.find_spec, NEEDED)), reason=f"needs {', '.join(NEEDED)}"
)

#: It ends with its input.
SERVER = """
from moto.server import ThreadedMotoServer
import sys
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print("%s:%s" % server.get_host_and_port(), flush=True)
sys.stdin.read()
"""

Command = Callable[..., tuple[int | None, str, str]]


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    """Start an S3 server."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([sys.executable, "-c", SERVER], **pipes, text=True) as server:
        *_, address = server.stdout.readline().split()
        yield f"http://{address}"


@pytest.fixture
def s3(
    endpoint: str, caches: Path, commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[fsspec.AbstractFileSystem, Command]]:
    """Make a bucket; give its file system, and how commands are run on it."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")

    def run(*args: str, cache: str = "caches") -> tuple[int | None, str, str]:
        monkeypatch.setenv("XDG_CACHE_HOME", str(caches.with_name(cache)))
        process = commands.start(args, caches.parent)
        out, err = process.communicate()
        return process.returncode, out, err

    files = fsspec.filesystem("s3", use_listings_cache=False, skip_instance_cache=True)
    files.mkdir("bucket")
    yield files, run
    files.rm("bucket", recursive=True)


@needs_s3
def test_commands_on_s3(s3: tuple[fsspec.AbstractFileSystem, Command], tmp_path: Path) -> None:
    files, run = s3
    RECORDED.write_csv(tmp_path / "answers.csv")
    files.put_file(str(tmp_path / "answers.csv"), "bucket/answers.csv")
    code, out, err = run(
        "audit", "--responses", "s3://bucket/answers.csv", "--out", "s3://bucket/run"
    )
    assert code == 0, err
    assert "report: s3://bucket/run/report.html" in out
    assert files.exists("bucket/run/report.html")
    # From another machine, which has no copy.
    code, _, err = run("estimate", "--scores", "s3://bucket/run/scores.parquet",
                       "--out", "s3://bucket/again.csv", cache="another")  # fmt: skip
    assert code == 0, err
    again = pl.read_csv(files.cat("bucket/again.csv"))
    assert again.height == pl.read_parquet(files.cat("bucket/run/estimates.parquet")).height
    assert "bucket/run/.lock" not in files.find("bucket")


@needs_s3
def test_shards_on_s3(s3: tuple[fsspec.AbstractFileSystem, Command]) -> None:
    files, run = s3
    where = "s3://bucket/run"
    options = "--stereotypes age --instrument absolute_decision --iterations 2 --mode free"
    code, out, err = run("plan", "vllm/m", "--size", "run", *options.split(), "--out", where)
    assert code == 0, err
    assert f"{where}/shards/1/vllm-m/00000.jsonl" in out
    (shard,) = files.glob("bucket/run/shards/1/*/*.jsonl")
    answers = [_answered(line) for line in files.cat(shard).decode().splitlines()]
    files.pipe_file(shard.replace(".jsonl", ".answers.jsonl"), "\n".join(answers).encode())
    code, out, err = run("collect", where, cache="another")
    assert code == 0, err
    assert f"clinometer report {where}" in out
    assert files.exists("bucket/run/estimates.parquet")


def _answered(line: str) -> str:
    message = {"role": "assistant", "content": "Yes."}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
    body = {"id": "", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
    response = {"status_code": 200, "body": body}
    return json.dumps({"custom_id": json.loads(line)["custom_id"], "response": response})


@needs_s3
def test_a_bucket_that_is_not_there_is_one_line(
    s3: tuple[fsspec.AbstractFileSystem, Command], tmp_path: Path
) -> None:
    _, run = s3
    RECORDED.write_csv(tmp_path / "answers.csv")
    recorded = str(tmp_path / "answers.csv")
    code, _, err = run("audit", "--responses", recorded, "--out", "s3://nowhere/run")
    assert code == 2
    (line,) = [text for text in err.splitlines() if "nowhere" in text]
    assert line.startswith("clinometer: s3://nowhere/run")


def test_two_machines_at_one_address_are_told_at_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = fsspec.filesystem("memory")
    with open_place(RUN) as first:
        first.mkdir(parents=True)
        with only_process(first):
            assert b" since " in store.cat_file("/bucket/run/.claim")
            monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another machine"))
            monkeypatch.setattr(places.socket, "gethostname", lambda: "another")
            with open_place(RUN) as second:
                second.mkdir(parents=True, exist_ok=True)
                with pytest.raises(PlanError, match="is running this plan"), only_process(second):
                    pass
        assert not store.exists("/bucket/run/.claim")


def test_the_claim_of_a_machine_that_died_is_taken_over() -> None:
    store = fsspec.filesystem("memory")
    store.pipe_file("/bucket/run/.claim", b"gone, process 1 since 2020-01-01T00:00:00+00:00")
    with open_place(RUN) as path:
        path.mkdir(parents=True, exist_ok=True)
        with only_process(path):
            pass
    assert not store.exists("/bucket/run/.claim")
