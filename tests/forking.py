"""Processes of the command line without the seconds in which Python imports it.

One process imports it, and forks for each command. `test_cluster` and `test_tutorials` start
commands as a shell does.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from waiting import HANGS_S

#: A command's parent is a fork of its own, which says its number, and then how it ended.
SERVER = """
import gc, importlib, json, os, signal, socket, sys
import clinometer.audits.answering, clinometer.audits.auditing, clinometer.audits.recording
import clinometer.report.document, clinometer.viewing.app
import inspect_ai._eval.task.run, inspect_ai.model._providers.openai_compatible, openai
import acp, anthropic.types.beta, fastapi, IPython.display, rich.markdown, uvicorn  # of inspect
from clinometer.cli import commands, main

for module, _ in commands().values():
    importlib.import_module(module)
gc.freeze()
orders = socket.socket(fileno=int(sys.argv[1]))
while True:
    message, (out, err, status), *_ = socket.recv_fds(orders, 1 << 20, 3)
    if not os.fork():
        child = os.fork()
        if not child:
            break
        for pipe in (out, err):
            os.close(pipe)
        os.write(status, f"{child}\\n".encode())
        os.write(status, f"{os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}\\n".encode())
        os._exit(0)
    for pipe in (out, err, status):
        os.close(pipe)
    while any(os.waitpid(-1, os.WNOHANG)):
        pass
orders.close()
os.dup2(out, 1)
os.dup2(err, 2)
for pipe in (out, err, status):
    os.close(pipe)
arguments, folder, environment = json.loads(message)
os.chdir(folder)
os.environ.clear()
os.environ.update(environment)
sys.argv[1:] = arguments
# A shell's background jobs ignore Ctrl-C, and so would their children.
signal.signal(signal.SIGINT, signal.default_int_handler)
main()
"""


class Forked:
    """A process that is no child of this one, with what tests use of `subprocess.Popen`."""

    def __init__(self, out: int, err: int, status: int) -> None:
        self.stdout, self.stderr, self._status = (os.fdopen(one) for one in (out, err, status))
        self.pid = int(self._status.readline())
        self.returncode: int | None = None

    def poll(self) -> int | None:
        if self.returncode is None and select.select([self._status], [], [], 0)[0]:
            self.returncode = int(self._status.readline())
        return self.returncode

    def communicate(self) -> tuple[str, str]:
        """Return what it prints until it ends."""
        with ThreadPoolExecutor(2) as readers:
            reading = [readers.submit(pipe.read) for pipe in (self.stdout, self.stderr)]
            try:
                out, err = (one.result(HANGS_S) for one in reading)
            except TimeoutError:
                self.kill()
                raise
        self.returncode = self.poll() if self.poll() is not None else int(self._status.readline())
        self.close()
        return out, err

    def close(self) -> None:
        for pipe in (self.stdout, self.stderr, self._status):
            pipe.close()

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class Commands:
    """Starts commands; the first one waits for the imports."""

    def __init__(self) -> None:
        self._orders: socket.socket | None = None
        self._ended = contextlib.ExitStack()

    def start(self, arguments: Sequence[str], folder: Path) -> Forked:
        if self._orders is None:
            self._orders = self._serve()
        pipes = [os.pipe() for _ in range(3)]
        given = json.dumps([arguments, str(folder), {**os.environ, "COLUMNS": "200"}])
        socket.send_fds(self._orders, [given.encode()], [write for _, write in pipes])
        for _, write in pipes:
            os.close(write)
        return Forked(*(read for read, _ in pipes))

    def _serve(self) -> socket.socket:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [sys.executable, "-c", SERVER, str(theirs.fileno())]
        quiet = {"stdout": subprocess.DEVNULL}
        process = subprocess.Popen(command, pass_fds=[theirs.fileno()], **quiet)
        self._ended.callback(process.wait)
        self._ended.callback(process.kill)
        self._ended.callback(ours.close)
        theirs.close()
        return ours

    def close(self) -> None:
        self._ended.close()


@pytest.fixture(scope="session")
def commands() -> Iterator[Commands]:
    started = Commands()
    yield started
    started.close()
