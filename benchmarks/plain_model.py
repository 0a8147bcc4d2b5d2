"""The embedded model's weights in plain `transformers`, asked word by word: a peer.

For every word the whole prompt is read anew, once for all options of a single token, and once
more for each longer one.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SHOWN = ("prompt", "opening")


class PlainModel:
    """The model as one would load it without Clinometer."""

    def __init__(self) -> None:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer

        from clinometer.models.embedded.weights import expand_weights, find_weights

        folder = expand_weights(Path(find_weights()))
        self.torch = torch
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.tokenizer: Any = AutoTokenizer.from_pretrained(folder)
        model: Any = AutoModelForCausalLM.from_pretrained(
            folder, dtype=torch.float32, attn_implementation="sdpa"
        )
        self.model: Any = model.to(self.device).eval()

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a text."""
        tokens: list[int] = self.tokenizer.encode(text, add_special_tokens=False)
        return tokens

    def prompt(self, text: str, opening: str | None = None) -> list[int]:
        """Return the tokens of a chat up to the answer, or up to where its opening ends."""
        messages = [{"role": "user", "content": text}]
        if opening:
            messages.append({"role": "assistant", "content": opening})
        return self.encode(
            self.tokenizer.apply_chat_template(
                messages,
                tokenize=False,
                add_generation_prompt=not opening,
                continue_final_message=bool(opening),
            )
        )

    def score(self, prefix: list[int], options: list[list[int]]) -> list[float]:
        """Log-probability of each option after the prefix."""
        rows: dict[tuple[int, ...], Any] = {}
        for option in options:
            if (kept := tuple(option[:-1])) not in rows:
                with self.torch.inference_mode():
                    tokens = self.torch.tensor([prefix + option[:-1]], device=self.device)
                    logits = self.model(tokens, logits_to_keep=len(option)).logits[0]
                rows[kept] = logits.float().log_softmax(-1).cpu()
        return [sum(float(rows[(*o[:-1],)][i, t]) for i, t in enumerate(o)) for o in options]

    def structured(self, trial: dict[str, Any]) -> dict[str, str]:
        """Fill in the likelier group word by word."""
        groups = [trial["marginalized"], trial["default"]]
        shown = groups if trial["order"] == "marginalized_first" else groups[::-1]
        prefix, chosen = self.prompt(trial["prompt"]), dict[str, str]()
        for word in trial["attributes"]:
            prefix = prefix + self.encode(("{" if not chosen else " ") + json.dumps(word) + ': "')
            closing = '"}' if len(chosen) + 1 == len(trial["attributes"]) else '",'
            options = [self.encode(group + closing) for group in shown]
            scores = self.score(prefix, options)
            best = scores.index(max(scores))
            chosen[word] = shown[best]
            prefix = prefix + options[best]
        return chosen

    def forced(self, trial: dict[str, Any]) -> dict[str, list[float]]:
        """Score both groups for each word."""
        options = [self.encode(f" {trial[group]}") for group in ("marginalized", "default")]
        found = {}
        for word in trial["attributes"]:
            texts = [(trial[part] or "").replace("{attribute}", word) for part in SHOWN]
            found[word] = self.score(self.prompt(*texts), options)
        return found
