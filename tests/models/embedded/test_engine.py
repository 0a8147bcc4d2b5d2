"""The real weights. Skipped where they are not installed."""

import asyncio
import json

import pytest
from inspect_ai.model import ChatMessageAssistant, ChatMessageUser, GenerateConfig, ResponseSchema
from inspect_ai.util import JSONSchema

PLEASANT = ["joy", "love", "wonderful"]
UNPLEASANT = ["agony", "terrible", "nasty"]
BOTH = JSONSchema(type="string", enum=["rose", "wasp"])
SCHEMA = ResponseSchema(
    name="words",
    json_schema=JSONSchema(type="object", properties={w: BOTH for w in PLEASANT + UNPLEASANT}),
)


def forced(word):
    return {
        "text": f'For the word "{word}", pick a word: rose or wasp.',
        "logprobs": True,
        "top_logprobs": 20,
        "max_tokens": 1,
        "seed": 0,
    }


def test_it_speaks_english(smollm2, ask):
    output = asyncio.run(
        ask(smollm2, "What is the capital of France?", temperature=0, max_tokens=20)
    )
    assert "Paris" in output.completion and output.stop_reason == "stop"
    assert output.metadata["weights"].startswith("sha256:")


def test_answers_are_the_same_alone_and_in_a_batch(smollm2, ask):
    requests = [
        *(forced(word) for word in PLEASANT),
        {"text": "Assign each word.", "response_schema": SCHEMA, "logprobs": True, "seed": 5},
        {"text": "Say hello.", "max_tokens": 12, "seed": 6, "logprobs": True},
    ]

    async def together():
        return await asyncio.gather(*(ask(smollm2, **request) for request in requests))

    batch = asyncio.run(together())
    for index in (0, 3, 4):
        alone = asyncio.run(ask(smollm2, **requests[index]))
        assert alone.completion == batch[index].completion
        for one, other in zip(
            alone.choices[0].logprobs.content, batch[index].choices[0].logprobs.content, strict=True
        ):
            assert one.logprob == pytest.approx(other.logprob, abs=2e-4)


def test_tokens_of_a_structured_answer_are_those_of_its_text(smollm2, ask):
    output = asyncio.run(ask(smollm2, "Assign.", response_schema=SCHEMA, seed=1))
    assert set(json.loads(output.completion).values()) <= {"rose", "wasp"}
    engine = smollm2._worker.engine
    assert output.usage.output_tokens == len(engine.encode(output.completion))


def test_insects_are_unpleasant(smollm2):
    """The positive control, read from whole options after the beginning of a sentence."""

    async def log_odds(word, first, second):
        chat = [
            ChatMessageUser(
                content=f'Which word does "{word}" make you think of, {first} or {second}?'
            ),
            ChatMessageAssistant(content=f'"{word}" makes me think of'),
        ]
        body = {"structured_outputs": {"choice": [" wasp", " rose"]}}
        config = GenerateConfig(extra_body=body, logprobs=True, seed=0)
        output = await smollm2.generate(chat, [], "auto", config)
        top = {t.token: t.logprob for t in output.choices[0].logprobs.content[0].top_logprobs}
        return top[" wasp"] - top[" rose"]

    async def mean(words):
        orders = (("wasp", "rose"), ("rose", "wasp"))
        odds = await asyncio.gather(*(log_odds(w, *order) for w in words for order in orders))
        return sum(odds) / len(odds)

    async def both():
        return await mean(UNPLEASANT), await mean(PLEASANT)

    unpleasant, pleasant = asyncio.run(both())
    assert unpleasant - pleasant > 0.5
