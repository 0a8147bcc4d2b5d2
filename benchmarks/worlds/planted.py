"""What is planted in simulated pages, and what is asked on them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from clinometer.reference import load_components

__all__ = ["FOUR", "NUMBERS", "WORLDS", "World"]

#: Names of the worlds that are simulated with each number of stereotypes.
FOUR = ("calm", "medium", "words", "wordings")
NUMBERS = (1, 2, 3, 4, 5, 8, 21)


@dataclass(frozen=True)
class World:
    """What is planted, and what is asked.

    Standard deviations of effects are parts of that of answers.
    """

    answer: float = 0.5
    """Standard deviation of the answers of a neutral stereotype to one prompt; 1: each is ±1."""
    kind: str = "beta"
    """Distribution of answers: beta; three (-1, 0 or 1); latent (tanh of a normal number)."""
    shared_wording: float = 0.0
    wording: float = 0.0
    word: float = 0.0
    cell: float = 0.0
    pair: float = 0.0
    unequal: float = 0.0
    """Standard deviation of the logarithm of a stereotype's factor of all effects and answers."""
    unequal_words: float = 0.0
    """The same of the effects of words."""
    lean: float = 0.0
    lean_sd: float = 0.0
    skewed: bool = False
    """Whether leans are exponential around their mean."""
    skewed_effects: bool = False
    """Whether effects of wordings and words are exponential around 0."""
    neutral: float = 0.0
    """Share of the stereotypes, the first ones, that have no lean."""
    stereotypes: int = 5
    wordings: int = 4
    words: int = 6
    """Words on a side."""
    shared_words: bool = False
    """Whether all stereotypes have the same words, with the same effects."""
    answers: int = 12
    """Answers of a stereotype to a wording."""
    mirrored: bool = True
    """Whether answers come in pairs, of the same words in both orders."""

    @property
    def categories(self) -> int:
        """Number of categories, of about three stereotypes each."""
        return min(4, max(1, (self.stereotypes + 1) // 3))


def _released() -> World:
    """Return a world with the variances of GPT-4o's released word associations."""
    rows = load_components().filter(model="gpt-4o", instrument="word_association")
    variances = dict(rows.select("error_source", "relative_variance").iter_rows())
    answer = variances["response"] ** 0.5
    word = (variances["marginalized"] / 2 + variances["default"] / 2) ** 0.5
    parts = {"word": word, "cell": variances["cell"] ** 0.5, "pair": variances["draw"] ** 0.5}
    return World(answer, **{name: sd / answer for name, sd in parts.items()}, stereotypes=21)


MEDIUM = World(shared_wording=0.05, wording=0.1, word=0.15, cell=0.1)
WORLDS = {
    "calm": World(),
    "medium": MEDIUM,
    "words": World(wording=0.05, word=0.25),
    "wordings": World(shared_wording=0.2, wording=0.1, word=0.1),
    "±1": replace(MEDIUM, answer=1.0, kind="three"),
    "three points": replace(MEDIUM, kind="three"),
    "latent": replace(MEDIUM, kind="latent"),
    "single answers": replace(MEDIUM, mirrored=False),
    "one word a side": replace(MEDIUM, words=1),
    "shared words": replace(MEDIUM, shared_words=True),
    "twenty wordings": replace(MEDIUM, wordings=20, words=16, answers=2),
    "unequal": replace(MEDIUM, answer=0.15, unequal=1.0),
    "unequal words": replace(MEDIUM, unequal_words=1.0),
    "skewed leans": replace(MEDIUM, skewed=True),
    "skewed effects": replace(MEDIUM, skewed_effects=True),
    "GPT-4o": _released(),
}
