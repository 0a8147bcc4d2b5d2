"""The real weights, where they are installed; the places of tokens with the two-layer model."""

import asyncio
import json
import random

import pytest
from inspect_ai.model import ChatMessageAssistant, ChatMessageUser, GenerateConfig, ResponseSchema
from inspect_ai.util import JSONSchema

from clinometer.models.embedded.decoding import Sampling, complete, fill
from clinometer.models.embedded.engine import CACHED_TOKENS, prompt_chain

PLEASANT = ["joy", "love", "wonderful"]
UNPLEASANT = ["agony", "terrible", "nasty"]
ROSE_OR_WASP = JSONSchema(type="string", enum=["rose", "wasp"])
SCHEMA = ResponseSchema(
    name="words",
    json_schema=JSONSchema(
        type="object", properties={w: ROSE_OR_WASP for w in PLEASANT + UNPLEASANT}
    ),
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

    async def answer_batch():
        return await asyncio.gather(*(ask(smollm2, **request) for request in requests))

    batch = asyncio.run(answer_batch())
    for index in (0, 3, 4):
        alone = asyncio.run(ask(smollm2, **requests[index]))
        assert alone.completion == batch[index].completion
        for single, batched in zip(
            alone.choices[0].logprobs.content, batch[index].choices[0].logprobs.content, strict=True
        ):
            assert single.logprob == pytest.approx(batched.logprob, abs=2e-4)


def prompts(engine, count):
    """Prompts with equal beginnings, words and ends, up to some 200 tokens long."""
    for seed in range(count):
        rng = random.Random(seed)
        word, *groups = rng.sample(["joy", "agony", "Emily", "Jamal", "career", "family"], 3)
        more = " And so on it goes, yes." * rng.choice([0, 0, 1, 5, 25])
        yield engine.encode(f'For the word "{word}", pick {groups[0]} or {groups[1]}.{more}')


def test_log_probabilities_depend_neither_on_neighbours_nor_on_what_is_kept(smollm2, ask):
    asyncio.run(ask(smollm2, "Hello.", max_tokens=1))
    engine = smollm2._worker.engine
    several = list(prompts(engine, 8))

    def run(batch):
        chains = [prompt_chain(tokens, scored=1) for tokens in batch]
        computed = max(engine.add(chain) for chain in chains)
        engine.run()
        return computed, [chain[-1].logprobs for chain in chains]

    alone = []
    for tokens in several:
        engine._kept.clear()
        alone += run([tokens])[1]
    engine._kept.clear()
    computed, batched = run(several)
    again, cached = run(several)
    for reference, *variants in zip(alone, batched, cached, strict=True):
        assert all(float((reference - variant).abs().max()) < 1e-4 for variant in variants)
    assert 4 * again < computed < sum(map(len, several))
    assert sum(len(tokens) for _, tokens, _ in engine._kept) <= CACHED_TOKENS


def test_places_are_given_back(tiny, ask):
    asyncio.run(ask(tiny, "Hello.", max_tokens=1))
    engine = tiny._worker.engine

    def used():
        engine._kept.clear()
        return engine._memory.table.shape[1] - len(engine._memory._free)

    before = used()
    for tokens in prompts(engine, 24):
        engine.add(prompt_chain(tokens, scored=1))
        engine.run()
    assert used() == before
    assert len(set(engine._memory._free)) == len(engine._memory._free)


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

    async def ask_sides():
        return await mean(UNPLEASANT), await mean(PLEASANT)

    unpleasant, pleasant = asyncio.run(ask_sides())
    assert unpleasant - pleasant > 0.5


def test_what_has_been_drawn_keeps_no_vocabularies(tiny, ask):
    asyncio.run(ask(tiny, "Hello.", max_tokens=1))
    engine = tiny._worker.engine
    prompt = engine.encode("Say something.")
    decoders = [
        complete(engine, prompt, Sampling(max_tokens=12, seed=1)),
        fill(engine, prompt, {word: ["rose", "wasp"] for word in PLEASANT}, Sampling(seed=1)),
    ]
    for decoder in decoders:
        for segments in decoder:
            engine.add(segments)
            engine.run()
            scored = [segment for segment in segments if segment.scored]
            assert all(len(segment.logprobs) for segment in scored)
            above = scored[0].parent
            while above is not None:
                assert not above.logprobs.numel()
                above = above.parent
