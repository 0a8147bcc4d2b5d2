"""cfprompt: `Study(…).run_all(metrics=["flip_rate"])`, as its quick start has it.

Does an answer change more often with the group than with a paraphrase? A question is a prompt about
a person of the default group; its perturbation names one of the marginalized group; its paraphrase
is another of the prompts, about the same person, chosen as the package does: the one whose edit
distance comes nearest. Models are classes of its `Model`. A finding is p < .05. It reads labels
alone: numbers and lengths are cut at the middle of their scale.
"""

from __future__ import annotations

import logging
import random
from itertools import cycle
from typing import Any

import cfprompt
import numpy as np
import pandas as pd
from stand_client import CHOICE, LENGTH, NUMBER, REFUSAL, ask, fill, pairs, share

DISTRIBUTION = "cfprompt"
MIDDLE_WORDS = 60
logging.disable(logging.WARNING)


class Words:
    """A tokenizer of words."""

    cache_id = "words"

    def encode(self, text: str) -> list[int]:
        """Return a number for each word."""
        return [hash(word) for word in text.split()]


class StandModel(cfprompt.Model):
    """The simulated model, or, with `texts`, one that offers these as paraphrases."""

    tokenizer = Words()
    cache_id = "stand"

    def __init__(self, run: dict[str, Any], texts: dict[str, Any] | None = None) -> None:
        self.run, self.texts = run, texts

    def generate(self, prompts: list[str], per_prompt_seeds: Any = None) -> list[str]:
        """Answer prompts; of paraphrases the next one is offered."""
        if self.texts is None:
            return [ask(self.run, prompt) for prompt in prompts]
        # The request quotes the original the first time alone; retries are about the same.
        for original in self.texts:
            if original in prompts[0]:
                self.original = original
        return [next(self.texts[self.original])]

    def score_classes(self, prompts: Any, classes: Any, per_prompt_seeds: Any = None) -> np.ndarray:
        """Give no probabilities: labels are read in texts."""
        raise NotImplementedError

    def close(self) -> None:
        """Close nothing."""


def flip_rate(run: dict[str, Any]) -> tuple[bool, float]:
    targets, paraphrases, rows = {}, {}, []
    for template, name, other in pairs(run):
        original = fill(template, name)
        rows.append(original)
        targets[original] = fill(template, other)
        others = [fill(text, name) for text in run["templates"].values() if text != template]
        random.Random(original).shuffle(others)
        paraphrases[original] = cycle(others)
    study = cfprompt.Study(
        data=pd.DataFrame({"question": rows}),
        perturb_column="question",
        target_perturbation=targets.__getitem__,
        prompt_template="{question}",
        target_model=StandModel(run),
        paraphrase_model=StandModel(run, paraphrases),
        extract_label=lambda text: label(run["kind"], text),
        max_retries=len(run["templates"]) - 2,
    )
    (result,) = study.run_all(metrics=["flip_rate"]).results
    return result.p_value < 0.05, result.statistic


def label(kind: str, text: str) -> str | None:
    """Return the label of an answer; None if it has none."""
    if kind == LENGTH:
        return "long" if len(text.split()) > MIDDLE_WORDS else "short"
    if kind == REFUSAL:
        return "refused" if share(CHOICE, text) is None else "answered"
    value = share(kind, text)
    return None if value is None else "high" if value > 0.5 else "low"


CALLS = {"cfprompt": dict.fromkeys((CHOICE, NUMBER, LENGTH, REFUSAL), flip_rate)}
