"""States of transformers, against one sentence at a time with all hidden states."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="extra `local` not installed")
pytest.importorskip("transformers", reason="extra `local` not installed")

import torch
import transformers

from clinometer.errors import ClinometerWarning, InputError, ModelError
from clinometer.models.embedded.weights import find_weights
from clinometer_measures.states.readers import transformer
from clinometer_measures.states.readers.opening import Loading, open_reader
from clinometer_measures.states.readers.states import Tokens, make_batches

ROWS = [
    ("kind|1", "kind", "A kind woman"),
    ("woman", "woman", "A kind woman is here"),
    ("he", "he", "There he is"),
    ("Zoë", "Zoë", "Zoë is there"),
    ("kind|1", "kind", "You are very kind to us"),
]
KINDS = {  # architecture → causal, pooled block by block, what the last layer is
    "bert": (False, True, "block"),
    "albert": (False, False, "unknown"),
    "t5": (False, True, "normed"),
    "gpt2": (True, True, "normed"),
    "llama": (True, True, "normed"),
}

Tiny = Callable[[str], Any]


@pytest.fixture
def batches(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """What is given to the model."""
    inputs: list[Any] = []

    run = transformer.TransformerReader._run

    def watched(reader: Any, batch: Any) -> Any:
        inputs.append(batch)
        return run(reader, batch)

    monkeypatch.setattr(transformer.TransformerReader, "_run", watched)
    yield inputs


@pytest.mark.parametrize("architecture", KINDS)
def test_states_are_those_of_one_sentence_at_a_time(
    architecture: str, tiny_reader: Tiny, tiny_folder: Tiny, table: Any, plain_states: Any
) -> None:
    reader = tiny_reader(architecture)
    states = reader.read(table(ROWS))
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny_folder(architecture))
    # A causal model reads no term first.
    texts = ["\n" + t if reader.causal and t.startswith(term) else t for _, term, t in ROWS]
    terms = [term for _, term, _ in ROWS]
    plain = [
        plain_states(reader.model, tokenizer, term, text)
        for term, text in zip(terms, texts, strict=True)
    ]
    expected = np.stack([(plain[0] + plain[4]) / 2, *plain[1:4]])
    assert states.keys == ("kind|1", "woman", "he", "Zoë") and list(states.counts) == [2, 1, 1, 1]
    assert states.layers == ("0", "1", "2", "3") and states.values.dtype == np.float32
    np.testing.assert_allclose(states.values, expected, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("architecture", KINDS)
def test_what_an_architecture_is_comes_from_trying_it(architecture: str, tiny_reader: Tiny) -> None:
    reader = tiny_reader(architecture)
    assert (reader.causal, reader.hooked, reader.last) == KINDS[architecture]
    assert reader.width == 32


@pytest.mark.parametrize("architecture", ["bert", "llama"])
def test_the_size_of_batches_moves_nothing(
    architecture: str, tiny_reader: Tiny, tiny_folder: Tiny, table: Any
) -> None:
    single = open_reader(str(tiny_folder(architecture)), Loading(batch_tokens=1, device="cpu"))
    unbatched, batched = (
        reader.read(table(ROWS)) for reader in (single, tiny_reader(architecture))
    )
    np.testing.assert_allclose(unbatched.values, batched.values, atol=1e-5)


def test_a_causal_model_reads_as_far_as_the_term(
    tiny_reader: Tiny, table: Any, batches: list[Any]
) -> None:
    rows = [("here", "Zoe", "Zoe is here"), ("there", "Zoe", "Zoe is there")]
    first, second = tiny_reader("llama").read(table(rows)).values
    assert np.array_equal(first, second) and [len(b.texts) for b in batches] == [1]
    first, second = tiny_reader("bert").read(table(rows)).values
    assert not np.allclose(first, second) and len(batches[1].texts) == 2


def test_a_context_of_two_terms_is_read_once(
    tiny_reader: Tiny, table: Any, batches: list[Any]
) -> None:
    text = "A kind woman"
    rows = [("a", "kind", text), ("b", "woman", text), ("c", "kind", text)]
    states = tiny_reader("bert").read(table(rows))
    assert [(len(b.texts), len(b.spans)) for b in batches] == [(1, 2)]
    assert np.array_equal(states.values[0], states.values[2])


def test_the_state_before_the_final_norm_can_be_had(
    tiny_reader: Tiny, tiny_folder: Tiny, table: Any
) -> None:
    rows = [("e", "e", "e")]
    block = open_reader(str(tiny_folder("llama")), Loading(last="block", device="cpu"))
    before, after = (r.read(table(rows)).values[0] for r in (block, tiny_reader("llama")))
    normed = block.model.norm(torch.tensor(before[-1])).detach().numpy()
    assert block.last == "block" and block.fingerprint != tiny_reader("llama").fingerprint
    np.testing.assert_array_equal(before[:-1], after[:-1])
    np.testing.assert_allclose(normed, after[-1], atol=1e-5)


def test_blocks_that_cannot_be_told_apart_have_no_state_before_the_norm(tiny_folder: Tiny) -> None:
    with pytest.raises(ModelError, match="last='block'.*use last='normed'"):
        open_reader(str(tiny_folder("albert")), Loading(last="block", device="cpu"))


def test_a_small_memory_reads_the_same_in_parts(
    tiny_reader: Tiny, table: Any, monkeypatch: pytest.MonkeyPatch, batches: list[Any]
) -> None:
    rows = [(f"k{n % 20}", "kind", f"{'so ' * (n % 7)}kind {n}") for n in range(60)]
    undivided = tiny_reader("bert").read(table(rows))
    monkeypatch.setattr(tiny_reader("bert"), "_spare", 1)
    parts = tiny_reader("bert").read(table(rows))
    assert len(batches) > 3 and parts.keys == undivided.keys
    np.testing.assert_allclose(parts.values, undivided.values, atol=1e-5)


def test_weights_in_half_precision_are_averaged_in_full(
    tiny_reader: Tiny, tiny_folder: Tiny, table: Any
) -> None:
    half = open_reader(str(tiny_folder("llama")), Loading(dtype="bfloat16", device="cpu"))
    states, full = half.read(table(ROWS)), tiny_reader("llama").read(table(ROWS))
    assert (
        half.model.dtype == torch.bfloat16 and half.fingerprint != tiny_reader("llama").fingerprint
    )
    mean = states.of(["woman"])[0, 0]
    assert not np.array_equal(mean, torch.tensor(mean).bfloat16().double().numpy())
    assert np.corrcoef(states.values.ravel(), full.values.ravel())[0, 1] > 0.999


def test_a_term_beyond_the_limit_is_read_in_a_window(tiny_reader: Tiny, table: Any) -> None:
    text = "so " * 40 + "very kind " + "so " * 40
    with pytest.warns(ClinometerWarning, match="1 contexts are longer than the 64 tokens"):
        states = tiny_reader("bert").read(table([("kind", "kind", text)]))
    middle = text.index("kind")
    window = text[middle - 29 : middle + 33]  # 62 letters and two marks
    expected = tiny_reader("bert").read(table([("kind", "kind", window)]))
    np.testing.assert_allclose(states.values, expected.values, atol=1e-5)


@pytest.mark.parametrize(("causal", "expected"), [(False, "so very "), (True, "very kind")])
def test_a_long_context_keeps_its_beginning_or_the_term(
    tiny_folder: Tiny, causal: bool, expected: str
) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny_folder("gpt2"))
    tokens = Tokens(tokenizer, causal, limit=8 if not causal else 9)
    term = "so" if not causal else "kind"
    text = "so very kind of you"
    (piece,) = tokens.pieces([text], [(text.index(term), text.index(term) + len(term))], [0])
    assert tokenizer.decode(piece.ids) == expected and piece.shortened
    assert tokenizer.decode(piece.ids[piece.start : piece.stop]).strip() == term


def test_a_term_longer_than_the_limit_is_refused(tiny_reader: Tiny, table: Any) -> None:
    rows = [("a", "a", "a"), ("long", "o" * 70, "o" * 70)]
    with pytest.raises(InputError, match="row 2: term 'o+' is longer than the 64 tokens"):
        tiny_reader("bert").read(table(rows))


def test_a_term_that_the_tokenizer_drops_is_refused(tiny_folder: Tiny) -> None:
    from tokenizers import normalizers

    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny_folder("gpt2"))
    tokenizer.backend_tokenizer.normalizer = normalizers.Replace("kind", "")
    with pytest.raises(InputError, match="row 1: term 'kind': the tokenizer drops it"):
        Tokens(tokenizer, False).pieces(["a kind man"], [(2, 6)], [0])


def test_batches_keep_within_their_budget(tiny_folder: Tiny) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny_folder("gpt2"))
    texts = ["a" * length for length in (5, 1, 9, 4, 4, 12)]
    pieces = Tokens(tokenizer, False).pieces(texts, [(0, 1)] * 6, range(6))
    batches = list(make_batches(pieces, most_tokens=10, most_spans=2))
    assert [[len(text) for text in batch.texts] for batch in batches] == [[12], [9], [5, 4], [1]]
    assert batches[2].members == [[0], [3, 4]]


@pytest.mark.parametrize(
    ("weight", "value", "message"),
    [("embeddings.LayerNorm", 0.0, "layer 0 is all zero"), ("1.output.dense", np.inf, "layer 2")],
)
def test_broken_layers_are_named(
    tiny_folder: Tiny, table: Any, weight: str, value: float, message: str
) -> None:
    reader = open_reader(str(tiny_folder("bert")), Loading(device="cpu"))
    with torch.no_grad():
        for name, parameter in reader.model.named_parameters():
            if weight in name and "attention" not in name:
                parameter.fill_(value)
    with pytest.raises(ModelError, match=f"bert.*{message}"):
        reader.read(table(ROWS))


def test_a_device_map_is_passed_on(tiny_folder: Tiny, tiny_reader: Tiny, table: Any) -> None:
    pytest.importorskip("accelerate")
    mapped = open_reader(str(tiny_folder("llama")), Loading(device_map="auto", dtype="float32"))
    expected = tiny_reader("llama").read(table(ROWS)).values
    np.testing.assert_allclose(mapped.read(table(ROWS)).values, expected, atol=1e-4)
    with pytest.raises(ModelError, match="nowhere"):
        open_reader(str(tiny_folder("llama")), Loading(device_map="nowhere"))


def test_minilm_is_that_of_one_sentence_at_a_time(
    minilm: Any, table: Any, plain_states: Any
) -> None:
    rows = [
        ("a", "unsociability", "His rough unsociability wore off as he talked"),
        ("b", "Shaniqua", "this is Shaniqua"),
        ("c", "well-off", "The Well-off family moved in next door, to everybody's surprise."),
    ]
    states = minilm.read(table(rows))
    tokenizer = transformers.AutoTokenizer.from_pretrained(minilm.name)
    expected = [plain_states(minilm.model, tokenizer, term, text) for _, term, text in rows]
    assert states.values.shape == (3, 7, 384) and minilm.last == "block" and not minilm.causal
    np.testing.assert_allclose(states.values, expected, atol=1e-5)


def test_smollm2_reads_as_far_as_the_term(table: Any, plain_states: Any) -> None:
    try:
        find_weights()
    except ModelError as error:
        pytest.skip(str(error))
    reader = open_reader("clinometer/smollm2", Loading(device="cpu"))
    term, text = "unsociability", "His unsociability wore off as he talked to us"
    states = reader.read(table([("a", term, text)]))
    expected = plain_states(reader.model, reader.tokenizer, term, text)
    assert states.values.shape == (1, 31, 576) and reader.last == "normed" and reader.causal
    np.testing.assert_allclose(states.values[0], expected, atol=1e-5 * np.abs(expected).max())


def test_a_term_is_never_a_causal_models_first_token(
    tiny_folder: Tiny, table: Callable[..., Any]
) -> None:
    reader = open_reader(str(tiny_folder("gpt2")), Loading(device="cpu"))
    bare = open_reader(str(tiny_folder("gpt2")), Loading(device="cpu", first="bare"))
    first, second = table([("a", "Ann", "Ann is here")]), table([("a", "Ann", "\nAnn is here")])
    np.testing.assert_allclose(reader.read(first).values, bare.read(second).values, atol=1e-6)
    assert np.abs(reader.read(first).values - bare.read(first).values).max() > 0.01
    later = table([("a", "here", "Ann is here")])
    np.testing.assert_array_equal(reader.read(later).values, bare.read(later).values)
    assert reader.fingerprint != bare.fingerprint
