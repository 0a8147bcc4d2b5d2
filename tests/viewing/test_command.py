"""The command, in a process of its own."""

from __future__ import annotations

import shutil
import signal
import socket
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from clinometer.comparing.bundling import bundle
from forking import Forked
from waiting import HANGS_S

Start = Callable[..., Forked]


def test_it_prints_an_address_and_ends_quietly(
    finished: Path, clinometer: Start, tmp_path: Path
) -> None:
    process = clinometer("view", finished.name)
    assert process.stdout is not None
    name, address = process.stdout.readline().split(": ", 1)
    assert name == finished.name and address.startswith("http://127.0.0.1:")
    with urllib.request.urlopen(address.strip(), timeout=HANGS_S) as page:
        assert "8 of 8" in page.read().decode()
    bare = "/".join(address.split("/")[:3])
    with pytest.raises(urllib.error.HTTPError, match="404") as refused:
        urllib.request.urlopen(bare, timeout=HANGS_S)
    refused.value.close()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert (process.returncode, err) == (0, "")


def test_a_bundle_is_shown_under_its_name_and_left_as_it_is(
    finished: Path, clinometer: Start, tmp_path: Path
) -> None:
    content = bundle(finished, tmp_path / "run.zip").read_bytes()
    process = clinometer("view", "run.zip")
    assert process.stdout is not None
    name, address = process.stdout.readline().split(": ", 1)
    with urllib.request.urlopen(address.strip(), timeout=HANGS_S) as page:
        assert "8 of 8" in page.read().decode() and "/runs/run.zip-" in page.url
    process.send_signal(signal.SIGINT)
    process.communicate()
    assert (name, process.returncode) == ("run.zip", 0)
    assert (tmp_path / "run.zip").read_bytes() == content


def test_a_changed_bundle_is_refused_in_a_line(
    finished: Path, clinometer: Start, tmp_path: Path
) -> None:
    content = bytearray(bundle(finished, tmp_path / "run.zip").read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / "run.zip").write_bytes(content)
    process = clinometer("view", "run.zip")
    out, err = process.communicate()
    assert (process.returncode, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("clinometer: run.zip: ")


def test_it_listens_on_the_loopback_interface_alone(finished: Path, clinometer: Start) -> None:
    if not sys.platform.startswith("linux"):
        pytest.skip("127.0.0.2 is the loopback interface of Linux")
    process = clinometer("view", finished.name)
    assert process.stdout is not None
    port = int(process.stdout.readline().split(":")[3].split("/")[0])
    try:
        socket.create_connection(("127.0.0.1", port), timeout=HANGS_S).close()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.2", port), timeout=HANGS_S).close()
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate()


def test_a_port_in_use_is_one_line(finished: Path, clinometer: Start) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        process = clinometer("view", finished.name, "--port", str(port))
        out, err = process.communicate()
    assert (process.returncode, out) == (2, "")
    assert err == f"clinometer: --port {port}: Address already in use; name another, or 0 for any\n"


@pytest.mark.parametrize("name", ["empty", "nowhere", "file"])
def test_without_results_it_is_one_line(name: str, clinometer: Start, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("")
    process = clinometer("view", name)
    _, err = process.communicate()
    assert process.returncode == 2 and err.count("\n") == 1 and name in err
    shutil.rmtree(tmp_path / "empty")
