"""Read the sentiment and the emotions of a text, each with an existing classifier.

Sentiment: VADER, a lexicon with rules (Hutto & Gilbert 2014, ICWSM), as the package vaderSentiment
has it: the compound score, −1 (negative) to 1 (positive). Emotions: a text classifier of
transformers with the labels `EMOTIONS`; their probabilities sum to 1. Both read English only.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from clinometer.errors import InputError, ModelError, one_line

#: Characters of a text that are read, at most.
LONGEST_TEXT = 2_000

#: In the order of Bai et al. (2025), Supplementary Table 3.
EMOTIONS = ("neutral", "joy", "surprise", "disgust", "fear", "sadness", "anger")

#: The usual classifier: on the hub, with these seven labels.
EMOTION_CLASSIFIER = "j-hartmann/emotion-english-distilroberta-base"


def read_sentiment(text: str) -> float:
    """Return VADER's compound score of a text, −1…1; 0 without words that it knows.

    Raises InputError if the package vaderSentiment is not installed.

    Examples
    --------
    >>> read_sentiment("VADER is smart, handsome, and funny.")
    0.8316
    """
    return float(_vader().polarity_scores(text[:LONGEST_TEXT])["compound"])


@lru_cache(maxsize=1)
def _vader() -> Any:
    try:
        from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer
    except ImportError:
        raise InputError(
            "sentiment is read by vaderSentiment, not installed here; run: pip install "
            "'clinometer[bold]'"
        ) from None
    return SentimentIntensityAnalyzer()


def read_emotions(text: str, model: str = EMOTION_CLASSIFIER) -> dict[str, float]:
    """Return the probability of each of `EMOTIONS` in a text.

    Parameters
    ----------
    text
        The text; its first 2,000 characters are read, or as many tokens as the model takes.
    model
        A text classifier: its name on the hub, or a folder as transformers saves it.

    Returns
    -------
    dict
        Emotion → probability, 0…1.

    Raises
    ------
    ModelError
        If the model cannot be loaded or read the text, or has other labels.
    """
    import torch

    tokenizer, classifier, labels = _classifier(model)
    try:
        tokens = tokenizer(
            text[:LONGEST_TEXT], truncation=True, max_length=_limit(classifier), return_tensors="pt"
        )
        with torch.inference_mode():
            # One text: logits have shape (1, labels).
            shares = classifier(**tokens).logits[0].double().softmax(0).tolist()
    except Exception as error:  # libraries raise what they like
        raise ModelError(
            f"emotion classifier {model!r}: {one_line(error)}; expected one that reads text alone"
        ) from None
    by_label = dict(zip(labels, shares, strict=True))
    return {emotion: by_label[emotion] for emotion in EMOTIONS}


def _limit(classifier: Any) -> int:
    """Return how many tokens a classifier takes; RoBERTa's positions begin after its padding's."""
    config = classifier.config
    return int(config.max_position_embeddings) - int(config.pad_token_id or 0) - 1


@lru_cache(maxsize=1)
def _classifier(model: str) -> tuple[Any, Any, list[str]]:
    """Load tokenizer, classifier and its labels; only safetensors, and no code of the model's."""
    try:
        import torch  # noqa: F401 - transformers has no classifiers without it
        from transformers import AutoModelForSequenceClassification, AutoTokenizer
    except ImportError:
        raise ModelError(
            f"emotion classifier {model!r} needs torch and transformers; run: pip install "
            "'clinometer[local]'"
        ) from None
    try:
        tokenizer = AutoTokenizer.from_pretrained(model, trust_remote_code=False)
        classifier = AutoModelForSequenceClassification.from_pretrained(
            model, trust_remote_code=False, use_safetensors=True
        ).eval()
    except Exception as error:  # libraries raise what they like
        raise ModelError(
            f"emotion classifier {model!r}: {one_line(error)}; expected a text classifier with "
            "safetensors, on the hub or in a folder"
        ) from None
    labels = [label.lower() for _, label in sorted(classifier.config.id2label.items())]
    if sorted(labels) != sorted(EMOTIONS):
        raise ModelError(
            f"emotion classifier {model!r}: its labels are {', '.join(labels[:10])}; expected "
            f"{', '.join(EMOTIONS)}"
        )
    return tokenizer, classifier, labels
