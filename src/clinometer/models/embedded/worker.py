"""One thread per loaded model; requests join and leave it between forward passes.

Requests come from any event loop, or none: they are handed over through a thread-safe queue and
come back as `concurrent.futures.Future`, so nothing here outlives or waits for a loop. A future
that is cancelled is dropped before the next forward pass. An error inside one request is that
request's own; an error of a forward pass goes to all that were in it. The thread ends before the
interpreter does: torch aborts the process where one of its threads is cut off.
"""

from __future__ import annotations

import atexit
import queue
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clinometer.models.embedded.decoding import Answer, Decoders
    from clinometer.models.embedded.engine import Engine, Segment

#: Seconds that an idle model waits for further requests before it starts.
GATHER_S = 0.005

#: Tokens per forward pass; more are slower for each.
STEP_TOKENS = 1024


@dataclass(eq=False)
class _Request:
    start: Callable[[Engine], Decoders]
    answers: int = 1
    future: Future[list[Answer]] = field(default_factory=Future)
    decoder: Decoders | None = None
    segments: list[Segment] = field(default_factory=list)

    def advance(self, engine: Engine) -> bool:
        """Go on to the next segments; False when there is nothing more to run."""
        try:
            self.decoder = self.decoder or self.start(engine)
            self.segments = next(self.decoder)
        except StopIteration as finished:
            with suppress(InvalidStateError):  # cancelled while it ran
                self.future.set_result(finished.value)
            return False
        except Exception as error:
            self.fail(error)
            return False
        return True

    def fail(self, error: Exception) -> None:
        """Hand an error to who waits for the answers, if they still do."""
        with suppress(InvalidStateError):
            self.future.set_exception(error)


class Worker:
    """Runs the requests of one model.

    `load` is called in the thread at the first request, and again at the next request if it failed.
    No request is taken up while `batch_size` answers are being worked on.
    """

    def __init__(self, load: Callable[[], Engine], batch_size: int) -> None:
        self._load = load
        self._batch_size = batch_size
        self._queue: queue.SimpleQueue[_Request | None] = queue.SimpleQueue()
        self._start = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = False
        self.engine: Engine | None = None

    def submit(self, start: Callable[[Engine], Decoders], answers: int = 1) -> Future[list[Answer]]:
        """Queue a request of some answers; `start` makes their decoders in the thread of the model.

        The future holds the answers or what went wrong; cancelling it drops the request.
        """
        request = _Request(start, answers)
        self._queue.put(request)
        with self._start:
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, daemon=True)
                self._thread.start()
                atexit.register(self.close)
        return request.future

    def close(self) -> None:
        """End the thread after the forward pass that is under way; other requests are dropped."""
        self._closed = True
        self._queue.put(None)
        if self._thread is not None:
            self._thread.join()

    def _work(self) -> None:
        active: list[_Request] = []
        while True:
            arrived = self._arrivals(active)
            if self._closed:
                return
            try:
                self.engine = self.engine or self._load()
            except Exception as error:
                for request in arrived:
                    request.fail(error)
                continue
            active += [request for request in arrived if request.advance(self.engine)]
            active = [request for request in active if not request.future.cancelled()]
            active = self._step(self.engine, active)

    def _arrivals(self, active: Sequence[_Request]) -> list[_Request]:
        """Take what is queued, up to the batch size; wait only if there is nothing to do."""
        arrived: list[_Request] = []
        if not active:
            if (first := self._queue.get()) is None:
                return arrived
            arrived.append(first)
            time.sleep(GATHER_S)
        while sum(request.answers for request in (*active, *arrived)) < self._batch_size:
            try:
                following = self._queue.get_nowait()
            except queue.Empty:
                break
            if following is None:
                break
            arrived.append(following)
        return [request for request in arrived if not request.future.cancelled()]

    def _step(self, engine: Engine, active: list[_Request]) -> list[_Request]:
        """Run one forward pass; return the requests that need another."""
        running: list[_Request] = []
        try:
            for request in active:
                running.append(request)
                if engine.add(request.segments) >= STEP_TOKENS:
                    break
            if running:
                engine.run()
        except Exception as error:
            for request in running:
                request.fail(error)
            return active[len(running) :]
        # Those that waited come first in the next pass.
        unfinished = [request for request in running if request.advance(engine)]
        return active[len(running) :] + unfinished
