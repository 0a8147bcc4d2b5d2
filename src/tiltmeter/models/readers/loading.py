"""How a model is loaded and read."""

from __future__ import annotations

from dataclasses import dataclass

from tiltmeter.errors import InputError

__all__ = ["DTYPES", "FIRST", "LAST", "Loading"]

DTYPES = ("auto", "float32", "bfloat16", "float16")

#: What the last layer may be: the state after the final norm, or that of the last block.
LAST = ("normed", "block")

#: What stands before a term that would be first.
FIRST = ("break", "bare")


@dataclass(frozen=True)
class Loading:
    """How a model is loaded and read.

    Parameters
    ----------
    dtype
        Of the weights; "auto": float32 on a processor, so that numbers agree between machines,
        and the checkpoint's own on a GPU. States are averaged in float32 and above always.
    device
        As torch names it; "auto": a GPU if there is one.
    device_map
        For models larger than one device: "auto", "balanced" and so on, as accelerate has them.
    revision
        A branch, tag or commit of the model's repository.
    batch_tokens
        Tokens per forward pass; None: 2,048 on a processor, 16,384 on a GPU.
    last
        What the last layer is in models that end with a norm of their own, as Llama does:
        "normed", the state after it, as transformers has it, or "block", the one before, which
        is on the scale of the other layers.
    first
        What a causal model reads before a term that would be its very first token: "break", a line
        break, or "bare", nothing, as published.
    """

    dtype: str = "auto"
    device: str = "auto"
    device_map: str | None = None
    revision: str | None = None
    batch_tokens: int | None = None
    last: str = "normed"
    first: str = "break"

    def __post_init__(self) -> None:
        """Refuse values that mean nothing."""
        for name, allowed in (("dtype", DTYPES), ("last", LAST), ("first", FIRST)):
            if getattr(self, name) not in allowed:
                raise InputError(
                    f"{name} {getattr(self, name)!r}: allowed are {', '.join(allowed)}"
                )
        if self.batch_tokens is not None and self.batch_tokens < 1:
            raise InputError(f"batch_tokens {self.batch_tokens}: at least 1")
        if self.device_map is not None and self.device != "auto":
            raise InputError(f"device {self.device!r} and device_map: give one of them")
