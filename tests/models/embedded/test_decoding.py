"""Answers of a small random model, against plain forward passes over whole texts."""

import asyncio
import json
import math
from collections import Counter

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from inspect_ai.model import ResponseSchema
from inspect_ai.util import JSONSchema
from transformers import AutoModelForCausalLM, AutoTokenizer

WORDS = {"joy": ["rose", "wasp"], "hurt": ["rose", "wasp"], 'a "b"\n': ["wa", "wasp", "é"]}


def schema(properties):
    return ResponseSchema(
        name="words",
        json_schema=JSONSchema(
            type="object",
            properties={
                name: JSONSchema(type="string", enum=list(options))
                for name, options in properties.items()
            },
        ),
    )


class Plain:
    """The same weights, run by transformers as it comes: one text at a time, nothing kept."""

    def __init__(self, folder):
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.model = AutoModelForCausalLM.from_pretrained(folder, attn_implementation="eager")

    def prompt(self, text):
        chat = [{"role": "user", "content": text}]
        text = self.tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
        return self.encode(text)

    def encode(self, text):
        return self.tokenizer.encode(text, add_special_tokens=False)

    @torch.inference_mode()
    def rows(self, tokens):
        return self.model(torch.tensor([tokens])).logits[0].float().log_softmax(-1)

    def after(self, tokens, more):
        """Log-probability of `more` after `tokens`."""
        rows = self.rows([*tokens, *more])[len(tokens) - 1 : -1]
        return float(rows.gather(1, torch.tensor(more)[:, None]).sum())


@pytest.fixture(scope="module")
def plain(tiny_folder):
    return Plain(tiny_folder)


def positions(output):
    return output.choices[0].logprobs.content


def test_first_token_logprobs_equal_a_plain_forward_pass(tiny, ask, plain):
    output = asyncio.run(
        ask(tiny, "Which word?", logprobs=True, top_logprobs=20, max_tokens=1, temperature=0.3)
    )
    values, tokens = plain.rows(plain.prompt("Which word?"))[-1].topk(20)
    (position,) = positions(output)
    assert [t.token for t in position.top_logprobs] == [plain.tokenizer.decode([t]) for t in tokens]
    assert [t.logprob for t in position.top_logprobs] == pytest.approx(values.tolist(), abs=1e-4)


def test_more_alternatives_than_usual_are_given_on_request(tiny, ask):
    output = asyncio.run(ask(tiny, "x", logprobs=True, top_logprobs=10_000, max_tokens=1))
    total = math.fsum(math.exp(t.logprob) for t in positions(output)[0].top_logprobs)
    assert total == pytest.approx(1, abs=1e-3)


def test_greedy_text_equals_plain_greedy_decoding(tiny, ask, plain):
    output = asyncio.run(ask(tiny, "Say something", temperature=0, max_tokens=40))
    tokens = plain.prompt("Say something")
    start = len(tokens)
    while len(tokens) - start < 40 and tokens[-1] != plain.tokenizer.eos_token_id:
        tokens.append(int(plain.rows(tokens)[-1].argmax()))
    assert output.completion == plain.tokenizer.decode(tokens[start:], skip_special_tokens=True)


def test_schema_probabilities_equal_plain_forward_passes(tiny, ask, plain):
    output = asyncio.run(ask(tiny, "Pick.", response_schema=schema(WORDS), logprobs=True, seed=3))
    choices = json.loads(output.completion)
    text = plain.prompt("Pick.")
    for number, (name, options) in enumerate(WORDS.items()):
        opening = ("{" if number == 0 else " ") + json.dumps(name) + ': "'
        closing = '"}' if number == 2 else '",'
        text = [*text, *plain.encode(opening)]
        expected = {o: plain.after(text, plain.encode(o + closing)) for o in options}
        logprobs = {t.token: t.logprob for t in positions(output)[number].top_logprobs}
        assert logprobs == pytest.approx(expected, abs=2e-4)
        text = [*text, *plain.encode(choices[name] + closing)]


def test_a_choice_is_scored_as_a_whole(tiny, ask, plain):
    options = [" rose", " wasp"]
    body = {"structured_outputs": {"choice": options}}
    output = asyncio.run(ask(tiny, "Pick.", extra_body=body, logprobs=True, temperature=0))
    expected = {o: plain.after(plain.prompt("Pick."), plain.encode(o)) for o in options}
    (position,) = positions(output)
    assert {t.token: t.logprob for t in position.top_logprobs} == pytest.approx(expected, abs=2e-4)
    assert output.completion == max(expected, key=expected.__getitem__)


names = st.text(min_size=0, max_size=8)
values = st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=4, unique=True)


@settings(max_examples=30)
@given(properties=st.dictionaries(names, values, min_size=1, max_size=4), seed=st.integers())
def test_structured_answers_always_fit_the_schema(tiny, properties, seed):
    from inspect_ai.model import ChatMessageUser, GenerateConfig

    config = GenerateConfig(response_schema=schema(properties), seed=seed)
    output = asyncio.run(tiny.generate([ChatMessageUser(content="x")], [], "auto", config))
    answer = json.loads(output.completion)
    assert list(answer) == list(properties)
    assert all(answer[name] in options for name, options in properties.items())


def test_structured_choices_are_drawn_from_the_renormalised_probabilities(tiny, ask):
    async def draws():
        return await asyncio.gather(
            *(
                ask(
                    tiny,
                    "Pick.",
                    seed=seed,
                    logprobs=True,
                    temperature=2.0,
                    response_schema=schema({"joy": ["rose", "wasp", "lily"]}),
                )
                for seed in range(400)
            )
        )

    outputs = asyncio.run(draws())
    listed = positions(outputs[0])[0].top_logprobs
    weights = {t.token: math.exp(t.logprob / 2) for t in listed}
    counts = Counter(json.loads(output.completion)["joy"] for output in outputs)
    for option, weight in weights.items():
        share = weight / sum(weights.values())
        assert abs(counts[option] / 400 - share) < 4 * math.sqrt(share * (1 - share) / 400) + 1e-9


def test_sampling_frequencies_follow_the_model(tiny, ask, plain):
    async def draws():
        return await asyncio.gather(
            *(ask(tiny, "x", seed=s, max_tokens=1, logprobs=True) for s in range(400))
        )

    counts = Counter(positions(output)[0].token for output in asyncio.run(draws()))
    expected: Counter[str] = Counter()
    for token, share in enumerate(plain.rows(plain.prompt("x"))[-1].exp().tolist()):
        expected[plain.tokenizer.decode([token])] += share
    for text, share in expected.most_common(5):
        assert abs(counts[text] / 400 - share) < 4 * math.sqrt(share * (1 - share) / 400)


def test_top_k_and_top_p_limit_what_is_drawn(tiny, ask):
    async def draws(**config):
        outputs = await asyncio.gather(
            *(
                ask(
                    tiny,
                    "x",
                    seed=s,
                    max_tokens=1,
                    logprobs=True,
                    top_logprobs=3,
                    temperature=5.0,
                    **config,
                )
                for s in range(100)
            )
        )
        top = [t.token for t in positions(outputs[0])[0].top_logprobs]
        return top, {positions(output)[0].token for output in outputs}

    top, sampled = asyncio.run(draws(top_k=3))
    assert sampled == set(top)
    top, sampled = asyncio.run(draws(top_p=1e-6))
    assert sampled == {top[0]}


def test_seeds_are_honoured(tiny, ask):
    def text(seed):
        return asyncio.run(ask(tiny, "x", max_tokens=30, seed=seed)).completion

    assert text(1) == text(1) != text(2)
    assert text(None) != text(None)


def test_stop_sequences_end_the_text_and_are_left_out(tiny, ask):
    full_text = asyncio.run(ask(tiny, "x", max_tokens=30, seed=1)).completion
    stop = next(c for c in full_text[5:] if c.isascii())
    output = asyncio.run(ask(tiny, "x", max_tokens=30, seed=1, stop_seqs=[stop]))
    assert output.completion == full_text[: full_text.index(stop)] and output.stop_reason == "stop"
