"""What answering shards costs on top of inspect's `Model.generate`.

Question
    Does `clinometer answer` add less than 10 % to inspect, in wall time and in CPU per call?
Peer
    `inspect_ai.model.Model.generate` alone: the same prompts and settings, from as many tasks as
    there are connections. Its outputs are dropped.
Ours
    `asking.answering.ShardAnswerer` on one shard: reads requests, keeps each answer at once.
How
    600 word association prompts to the server of `elicitation`; see `asking`. The shard is
    written before the time is taken.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from benchmarks.asking import Ways, compare, take_turns
from benchmarks.elicitation import CALLS, CONNECTIONS, MODEL, WARM_UP, plan_of
from benchmarks.measuring import Result

WAYS = Ways(
    "benchmarks.answering",
    f"Answering a shard of {CALLS:,} requests over {CONNECTIONS} connections",
    {"inspect": "inspect's generate alone", "ours": "clinometer answer"},
    CALLS,
)


def run() -> Result:
    """Ask the same prompts in each way."""
    return compare(WAYS)


def _inspect(calls: int, folder: Path) -> Callable[[], None]:
    from clinometer.models.opening import Connection, Generation, open_model

    prompts = plan_of(calls).trials()["prompt"].to_list()
    model = open_model(MODEL, Generation(), Connection(max_connections=CONNECTIONS))

    async def ask_all() -> None:
        left = iter(prompts)

        async def ask() -> None:
            for prompt in left:
                output = await model.generate(prompt, cache=False)
                assert output.completion

        async with model:
            await asyncio.gather(*(ask() for _ in range(CONNECTIONS)))

    return lambda: asyncio.run(ask_all())


def _ours(calls: int, folder: Path) -> Callable[[], None]:
    from clinometer.asking.answering import Shard, ShardAnswerer, answer_side_by_side
    from clinometer.asking.shards import ANSWERED
    from clinometer.audits.sharding import shard_plan
    from clinometer.models.opening import Connection

    (path,) = shard_plan(plan_of(calls), folder)
    answerer = ShardAnswerer(MODEL, Connection(max_connections=CONNECTIONS))

    def answer() -> None:
        assert answer_side_by_side([(answerer, [Shard(MODEL, path)])]) == 0
        assert len(path.with_suffix(ANSWERED).read_bytes().splitlines()) == calls

    return answer


if __name__ == "__main__":
    take_turns({"inspect": _inspect, "ours": _ours}, WARM_UP, CALLS)
