"""Sentiment and emotions, by classifiers of others."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from clinometer.errors import InputError, ModelError
from clinometer.reading import sentiment
from clinometer.reading.sentiment import EMOTIONS, LONGEST_TEXT, read_emotions, read_sentiment


@pytest.mark.parametrize(
    ("text", "compound"),
    [("VADER is smart, handsome, and funny.", 0.8316),
     ("VADER is not smart, handsome, nor funny.", -0.7424),
     ("The book was good.", 0.4404), ("Today SUX!", -0.5461), ("", 0.0)],
)  # fmt: skip
def test_the_examples_of_vader(text: str, compound: float) -> None:
    """The sentences and scores in the documentation of vaderSentiment 3.3.2."""
    assert read_sentiment(text) == pytest.approx(compound)


def test_what_is_very_long_is_read_at_its_beginning() -> None:
    assert read_sentiment("x" * LONGEST_TEXT + " horrible") == 0
    assert read_sentiment("but good " * 100_000) == pytest.approx(1, abs=0.001)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vaderSentiment.vaderSentiment", None)
    sentiment._vader.cache_clear()
    with pytest.raises(InputError, match=r"pip install 'clinometer\[bold\]'"):
        read_sentiment("good")


@pytest.fixture
def classifier(tiny_folder: Callable[[str], Path], tmp_path: Path) -> Callable[..., Path]:
    """Save a tiny random classifier with labels."""

    def save(labels: tuple[str, ...], kind: str = "bert") -> Path:
        import torch
        import transformers

        torch.manual_seed(0)
        base = tiny_folder("bert")
        sizes = transformers.AutoConfig.from_pretrained(base).to_dict() | {"model_type": kind}
        config = transformers.AutoConfig.for_model(**sizes)
        config.id2label = dict(enumerate(labels))
        model = transformers.AutoModelForSequenceClassification.from_config(config)
        model.save_pretrained(tmp_path)
        transformers.AutoTokenizer.from_pretrained(base).save_pretrained(tmp_path)
        return tmp_path

    return save


@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_probabilities_of_emotions_go_by_the_labels_of_the_model(
    classifier: Callable[..., Path], kind: str
) -> None:
    import torch
    import transformers

    labels = tuple(name.title() for name in sorted(EMOTIONS))
    folder = classifier(labels, kind)
    emotions = read_emotions("What a day. " * 400, str(folder))
    assert tuple(emotions) == EMOTIONS and sum(emotions.values()) == pytest.approx(1)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder)
    tokens = transformers.AutoTokenizer.from_pretrained(folder)("What a day.", return_tensors="pt")
    with torch.no_grad():
        expected = model(**tokens).logits.softmax(-1)[0].tolist()
    short = read_emotions("What a day.", str(folder))
    for label, share in zip(labels, expected, strict=True):
        assert short[label.lower()] == pytest.approx(share, abs=1e-5)


def test_other_labels_are_refused(classifier: Callable[..., Path]) -> None:
    folder = classifier(("good", "bad"))
    with pytest.raises(ModelError, match="labels are good, bad; expected neutral, joy"):
        read_emotions("a", str(folder))


def test_a_folder_without_a_model_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"emotion classifier .*; expected a text classifier"):
        read_emotions("a", str(tmp_path / "nothing"))
