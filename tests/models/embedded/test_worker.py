"""Concurrency: answers do not depend on neighbours, loops, cancellations or errors."""

import asyncio
import subprocess
import sys

import pytest
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import GenerateConfig, ResponseSchema, get_model
from inspect_ai.scorer import includes
from inspect_ai.util import JSONSchema

from clinometer.models.embedded.engine import Segment
from clinometer.models.embedded.worker import Worker
from waiting import HANGS_S

OPTIONS = JSONSchema(type="string", enum=["rose", "wasp"])


def requests(count):
    """Prompts of all lengths in all modes, some sharing their beginnings."""
    kinds = (
        {"max_tokens": 20},
        {"max_tokens": 4, "num_choices": 5},
        {"max_tokens": 1, "logprobs": True, "top_logprobs": 20},
        {
            "logprobs": True,
            "response_schema": ResponseSchema(
                name="s",
                json_schema=JSONSchema(
                    type="object", properties={"joy": OPTIONS, "agony": OPTIONS}
                ),
            ),
        },
    )
    return [
        {"text": f"Which of {'these ' * (i % 7)}goes with {i}?", "seed": i, **kinds[i % 4]}
        for i in range(count)
    ]


def content(output):
    texts = [choice.message.text for choice in output.choices]
    return texts, output.stop_reason, output.choices[0].logprobs, output.usage


async def answer_all(ask, model, all_requests):
    return await asyncio.gather(*(ask(model, **request) for request in all_requests))


def test_answers_are_the_same_alone_and_among_fifty(tiny, ask):
    batch = asyncio.run(answer_all(ask, tiny, requests(50)))
    for request, output in zip(requests(50), batch, strict=True):
        assert content(asyncio.run(ask(tiny, **request))) == content(output)


def test_answers_do_not_depend_on_the_order_of_arrival(tiny, ask):
    forth = asyncio.run(answer_all(ask, tiny, requests(30)))
    back = asyncio.run(answer_all(ask, tiny, requests(30)[::-1]))
    assert [content(o) for o in forth] == [content(o) for o in back[::-1]]


def test_a_cancelled_request_leaves_the_others_alone(tiny, ask):
    async def cancel_some():
        pending = requests(12)
        pending[0] |= {"max_tokens": 900}  # it is under way when another has ended
        tasks = [asyncio.create_task(ask(tiny, **r)) for r in pending]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks[::2]:
            task.cancel()
        return await asyncio.gather(*tasks, return_exceptions=True)

    outputs = asyncio.run(cancel_some())
    expected = asyncio.run(answer_all(ask, tiny, requests(12)))
    assert any(isinstance(output, asyncio.CancelledError) for output in outputs[::2])
    assert [content(o) for o in outputs[1::2]] == [content(o) for o in expected[1::2]]


def test_a_loop_that_died_with_requests_open_harms_no_later_loop(tiny, ask):
    async def abandon():
        for request in requests(6):
            asyncio.ensure_future(ask(tiny, **request))
        await asyncio.sleep(0)

    asyncio.run(abandon())
    outputs = asyncio.run(answer_all(ask, tiny, requests(6)))
    assert all(output.stop_reason for output in outputs)


def test_an_error_in_one_request_is_its_own(tiny, ask):
    async def mixed():
        return await asyncio.gather(
            ask(tiny, "y" * 2000), ask(tiny, "x", max_tokens=2), return_exceptions=True
        )

    error, output = asyncio.run(mixed())
    assert "1024" in str(error) and output.usage.output_tokens <= 2


def test_an_error_in_a_forward_pass_reaches_its_requests_and_the_worker_lives(tiny, ask):
    asyncio.run(ask(tiny, "x", max_tokens=1))
    engine = tiny._worker.engine
    worker = Worker(lambda: engine, batch_size=4)

    def broken(engine):
        yield [Segment((10**6,))]

    for _ in range(2):
        with pytest.raises(IndexError):
            worker.submit(broken).result(HANGS_S)


def test_two_evaluations_in_a_row(tiny_folder, tmp_path):
    model = get_model("clinometer/smollm2", weights=str(tiny_folder))
    task = Task(
        dataset=[Sample(input=f"Say {i}", target="x") for i in range(4)],
        scorer=includes(),
        config=GenerateConfig(max_tokens=5, seed=1),
    )
    for _ in range(2):
        (log,) = eval(task, model=model, display="none", log_dir=str(tmp_path))
        assert log.status == "success" and len(log.samples) == 4


#: The forward pass goes on until the end of the process waits for the thread.
BUSY_SCRIPT = """
from threading import Event, Thread
from types import SimpleNamespace
from clinometer.models.embedded.worker import Worker

begun, awaited = Event(), Event()
join = Thread.join
Thread.join = lambda thread: (awaited.set(), join(thread))

def add(segments):
    return len(segments)

def run():
    print("begun", flush=True)
    begun.set()
    awaited.wait()
    print("whole", flush=True)

def endless(engine):
    while True:
        yield [SimpleNamespace(start=0, tokens=(1,))]

worker = Worker(lambda: SimpleNamespace(add=add, run=run), batch_size=1)
worker.submit(endless)
begun.wait()
"""


def test_the_process_ends_after_the_forward_pass_that_is_under_way():
    done = subprocess.run(
        [sys.executable, "-c", BUSY_SCRIPT],
        capture_output=True,
        text=True,
        check=False,
        timeout=HANGS_S,
    )
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "begun\nwhole\n")
