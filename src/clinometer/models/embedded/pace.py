"""How long the embedded model takes on this machine, told before it is loaded."""

from __future__ import annotations

import time
from importlib.util import find_spec

import numpy as np

from clinometer.models.embedded.weights import fastest_dtype

#: Parameters that every token is multiplied with: those of the blocks.
PARAMETERS = 106_000_000

#: Share of the tokens shown that is computed; prompts share their beginnings.
COMPUTED = 0.48

#: Time of asking, by number format, over that of the products in float32: products, attention, the
#: journal, the client.
OVERHEAD = {"float32": 2.1, "bfloat16": 1.5}

#: Shapes of a product as the model has it, and seconds for which it is tried.
ROWS = 1024
WIDTH = 576
INNER = 1536
TRIED_S = 0.1


def expected_seconds(input_tokens: int, output_tokens: int) -> float:
    """Return the seconds that so many tokens take, by the speed of a product of matrices."""
    operations = 2.0 * PARAMETERS * (COMPUTED * input_tokens + output_tokens)
    return OVERHEAD[_dtype()] * operations / _operations_per_second()


def _dtype() -> str:
    """Return the number format that the model will have; float32 without torch."""
    return fastest_dtype() if find_spec("torch") else "float32"


def _operations_per_second() -> float:
    rng = np.random.default_rng(0)
    tokens = rng.standard_normal((ROWS, WIDTH), dtype=np.float32)
    weights = rng.standard_normal((WIDTH, INNER), dtype=np.float32)
    np.dot(tokens, weights)  # the first product also starts the threads
    products = 0
    start = time.perf_counter()
    while (spent := time.perf_counter() - start) < TRIED_S:
        np.dot(tokens, weights)
        products += 1
    return 2.0 * ROWS * WIDTH * INNER * products / spent
