"""Serves the pages on the loopback interface until the user ends it."""

from __future__ import annotations

import secrets
import socket
import tempfile
from collections.abc import Callable
from pathlib import Path

import uvicorn

from clinometer.errors import InputError
from clinometer.report.document import write_report
from clinometer.results.bundles import is_bundle, unpacked
from clinometer.viewing.app import HOSTS, make_app
from clinometer.viewing.runs import find_runs

#: Seconds that requests have to end in after Ctrl-C.
LAST_S = 2


def serve(directory: Path, port: int, ready: Callable[[str], None]) -> None:
    """Serve a directory on 127.0.0.1 until Ctrl-C, which raises KeyboardInterrupt.

    Parameters
    ----------
    directory
        A results directory, a folder with several, or a bundle.
    port
        0: any that is free.
    ready
        Called with the address when it can be asked.

    Raises
    ------
    InputError
        If there are no results, the bundle was changed, or the port cannot be had.
    """
    with unpacked(directory) as results:
        if is_bundle(directory):  # it has the tables, and not the page that is made of them
            write_report(results)
        _serve(results, port, ready)


def _serve(directory: Path, port: int, ready: Callable[[str], None]) -> None:
    if not find_runs(directory):
        raise InputError(
            f"{directory}: no results here; give a directory that a run has written or is writing, "
            "a folder with several, or a bundle"
        )
    token = secrets.token_urlsafe(18)
    with (
        listening(port) as listener,
        tempfile.TemporaryDirectory(prefix="clinometer-view-") as folder,
    ):
        app = make_app(directory, Path(folder), token)
        config = uvicorn.Config(
            app,
            log_config=None,
            log_level="critical",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            lifespan="off",
            ws="none",
            timeout_graceful_shutdown=LAST_S,
        )
        ready(f"http://{HOSTS[0]}:{listener.getsockname()[1]}/{token}/")
        uvicorn.Server(config).run([listener])


def listening(port: int) -> socket.socket:
    """Listen on 127.0.0.1; raises InputError if the port cannot be had."""
    # asyncio sets TCP_NODELAY where the protocol is named; else each answer waits some 40 ms.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOSTS[0], port))
        listener.listen()
    except OSError as error:
        listener.close()
        raise InputError(f"--port {port}: {error.strerror}; name another, or 0 for any") from None
    return listener
