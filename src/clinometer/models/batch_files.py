"""Files and batches of a provider with OpenAI's interface; errors that pass are waited out.

Reference
    OpenAI, Batch API: a file of requests is uploaded, a batch is made of it, and its results are
    two files, of answers and of errors. Nothing is paid for an upload, or for a batch that fails
    when it is checked.

Key and address are those that inspect takes for the model. Creating a batch is tried once: whether
a request without an answer made one, only a look at the provider's batches tells.
"""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeVar

from clinometer.errors import ModelError
from clinometer.models.opening import Connection, Generation, open_model
from clinometer.models.retries import MalformedAnswer, Notices

if TYPE_CHECKING:
    from openai.types import Batch

#: The name of a batch in its metadata.
LABEL = "clinometer"

#: The first and the longest wait after an error, and the longest for an answer, in seconds.
FIRST_S = 1.0
LONGEST_S = 60.0
TIMEOUT_S = 300.0

#: Tries of a process that does not wait.
TRIES = 6

#: Answers with these codes may be others the next time: timeout, conflict, too early, too many.
_PASSING = frozenset((408, 409, 425, 429))

#: What a body that is no answer raises.
_UNREADABLE = (MalformedAnswer, AttributeError, json.JSONDecodeError, UnicodeDecodeError)

T = TypeVar("T")


class BatchFiles:
    """Files and batches of a model's provider.

    Parameters
    ----------
    model
        The model's inspect name.
    base_url
        The address, if not that of the environment.
    patient
        Whether errors that pass are waited out however long they last.

    Raises
    ------
    ModelError
        By every method, if the provider refuses, such as for a wrong key.
    """

    def __init__(self, model: str, base_url: str | None = None, *, patient: bool = True) -> None:
        from openai import AsyncOpenAI, OpenAI

        opened = open_model(model, Generation(), Connection(base_url=base_url)).api.client
        if type(opened) is not AsyncOpenAI:
            raise ModelError(f"{model}: batches are asked of OpenAI's own interface only")
        self.model = model
        self.patient = patient
        self.client = OpenAI(
            api_key=opened.api_key, base_url=opened.base_url, max_retries=0, timeout=TIMEOUT_S
        )
        self._notices = Notices(model)

    def upload(self, name: str, data: bytes) -> str:
        """Upload a file of requests; return its id."""
        file = (name, data, "application/jsonl")
        return self._try("upload", lambda: self._upload(file))

    def _upload(self, file: tuple[str, bytes, str]) -> str:
        return _checked(self.client.files.create(file=file, purpose="batch").id)

    def create(self, file: str, name: str, shard: str) -> str | None:
        """Create a batch of a file; return its id, or None if it is not known whether there is one.

        `name` and `shard` go into its metadata.
        """
        from openai import APIError

        try:
            batch = self.client.batches.create(
                completion_window="24h",
                endpoint="/v1/chat/completions",
                input_file_id=file,
                metadata={LABEL: name, "shard": shard[-512:]},
            )
            return _checked(batch.id)
        except (APIError, *_UNREADABLE) as error:
            self._refuse_lasting("create a batch", error)
            self._notices.say(error)
            return None

    def find(self, file: str, name: str) -> str | None:
        """Look among all batches of the provider for that of a file or name; return its id."""
        return self._try("list batches", lambda: self._find(file, name))

    def _find(self, file: str, name: str) -> str | None:
        for batch in self.client.batches.list(limit=100):
            if batch.input_file_id == file or (batch.metadata or {}).get(LABEL) == name:
                return _checked(batch.id)
        return None

    def retrieve(self, batch: str) -> Batch:
        """Return the state of a batch."""
        return self._try(f"look at {batch}", lambda: self._retrieve(batch))

    def _retrieve(self, batch: str) -> Batch:
        state = self.client.batches.retrieve(batch)
        _checked(state.status)
        return state

    def download(self, file: str) -> bytes:
        """Return a file of results; one that ends in half a line is asked for twice."""
        before = None

        def download_complete() -> bytes:
            """Download the file; raise MalformedAnswer if it is cut, but not for the same twice."""
            nonlocal before
            data = self.client.files.content(file).content
            if not _is_complete(data) and data != before:
                before = data
                raise MalformedAnswer(f"results {file} end in half a line")
            return data

        return self._try(f"download {file}", download_complete)

    def waits(self) -> Iterator[float]:
        """Yield the seconds to wait after each try."""
        tries = itertools.count() if self.patient else range(TRIES)
        return (min(FIRST_S * 2 ** min(n, 10), LONGEST_S) for n in tries)

    def _try(self, what: str, call: Callable[[], T]) -> T:
        """Return what a call gives, however often it must be tried."""
        from openai import APIError

        for wait_s in self.waits():
            try:
                return call()
            except (APIError, *_UNREADABLE) as error:
                self._refuse_lasting(what, error)
                self._notices.say(error)
                time.sleep(wait_s)
        raise ModelError(
            f"{self.model}: {what}: no answer; repeat the command later, nothing is paid twice"
        )

    def _refuse_lasting(self, what: str, error: Exception) -> None:
        """Raise ModelError for an error that will be the same the next time."""
        from openai import APIStatusError

        if not isinstance(error, APIStatusError):
            return
        status = error.status_code
        if status < 500 and (status not in _PASSING or error.code == "insufficient_quota"):
            body = error.body if isinstance(error.body, dict) else {}
            message = " ".join(str(body.get("message") or error.message).split())
            hint = "; is it of another key or project?" if status == 404 else ""
            raise ModelError(f"{self.model}: {what}: status {status}: {message}{hint}") from None


def _checked(text: str | None) -> str:
    """Return an id; raises MalformedAnswer if the body had none."""
    if not isinstance(text, str) or not text:
        raise MalformedAnswer("not an answer of the interface of batches")
    return text


def _is_complete(data: bytes) -> bool:
    """Whether the last line is JSON."""
    try:
        json.loads(data.rstrip().rpartition(b"\n")[2] or b"0")
    except (ValueError, RecursionError):
        return False
    return True
