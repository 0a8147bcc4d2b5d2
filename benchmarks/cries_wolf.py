"""Twins of apps whose truth is known: what is told that is not there, and what is missed.

Question
    An app treats people by their names, by the wording of a request and by chance, and perhaps by
    their group. How often does `twins` tell groups apart that are treated alike, how often does it
    find those that are not, and how wide are its intervals? What do other tools say of the same
    app?
Peer
    vfairness, demoparity, fairtrace and cfprompt, by the calls that their own documentation gives,
    asking the same simulated models (``clinometer simulate --any``) over HTTP; LangFair gives
    numbers and makes no decision. A mixed model of R on the same answers (lme4 by lmerTest: people,
    wordings and their pairs random), whose p below .05 counts; the same model where wordings may
    change what groups differ by, which an interval in other prompts holds for; a t test of
    independent answers. Of intervals an oracle: 1.96 times the standard deviation of the estimate
    over all runs.
How
    `stand_truths` says what is planted: effects are drawn anew in each run, and one contrast is
    asked of with the prompts of `refunds`, six names a side and nine wordings, size standard. Told
    is a contrast that leans in other prompts; it is alone on its page, so that nothing is borrowed
    from others and nothing is corrected for. For widths 24 names a side and 24 wordings are asked,
    too. Batches of runs are kept (`kept`), so that a run that was stopped continues. Other tools
    have environments of their own (`rivals`), made in the folder that CLINOMETER_RIVALS names.
    ``python -m benchmarks.cries_wolf --runs 20 --asked 0`` saves nothing.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from rich.console import Console

from benchmarks.measuring import Result, Value, show
from benchmarks.stand_peers import Asking, ask_peers
from benchmarks.stand_runs import (
    WORDINGS_BY_GROUP,
    Asked,
    Found,
    measure_mixed_model,
    measure_truth,
)
from benchmarks.stand_truths import HARDER, TRUTHS, StandTruth, draw_trials, many_people
from clinometer.simulated.prompts import KnownPeople
from clinometer.stimuli import load_study

#: What is asked, and whether groups are alike → runs, and how many of them R sees.
SAMPLES = {
    ("few", True): (2_000, 100),
    ("few", False): (400, 100),
    ("harder", True): (400, 40),
    ("harder", False): (200, 60),
    ("many", True): (400, 40),
    ("many", False): (400, 100),
}
RUNS = 2_000
#: How often other tools ask.
ASKED_RUNS = 10
ITERATIONS, MANY_ITERATIONS = 24, 12
MOST_FALSE, WIDEST = 0.06, 1.25

#: Truths that are asked of many people in many wordings, too.
MANY = (
    "names and paraphrases",
    "skewed",
    "paraphrases in families",
    "yes or no, large difference",
    "numbers, small difference",
    "lengths, difference",
)


@dataclass(frozen=True)
class Measured:
    """What was found of one truth."""

    truth: StandTruth
    design: str
    ours: Found
    mixed: Sequence[bool] | None
    mixed_by_wording: Sequence[bool] | None

    @property
    def share(self) -> float:
        """How many runs are told."""
        return fmean(self.ours.told)

    @property
    def same_share(self) -> float:
        """How many of the runs that the mixed model sees are told."""
        return fmean(self.ours.told[: len(self.mixed or self.ours.told)])

    @property
    def is_as_powerful(self) -> bool:
        """Whether at least as many runs are told as by both mixed models."""
        models = [told for told in (self.mixed, self.mixed_by_wording) if told]
        return all(self.same_share >= fmean(told) for told in models)

    def row(self, asking: Asking) -> list[Value]:
        """Return the row of the table."""
        tools: list[Value] = []
        for by_truth in asking.told.values():
            told = by_truth.get(self.truth.name) if self.design == "few" else None
            tools.append(round(fmean(told), 3) if told else None)
        return [
            self.truth.name,
            self.design,
            "alike" if self.truth.alike else "differ",
            len(self.ours.told),
            self.share,
            self.same_share,
            *(fmean(told) if told else None for told in (self.mixed, self.mixed_by_wording)),
            fmean(self.ours.independent),
            *tools,
            self.ours.coverage,
            self.ours.width_ratio,
        ]


def measure_truths(runs: int) -> Iterator[Measured]:
    """Yield what is found of each truth, and of some with many people."""
    few = Asked("few", draw_trials(load_study("refunds"), ITERATIONS))
    study = many_people()
    many = Asked("many", draw_trials(study, MANY_ITERATIONS), KnownPeople([study]))
    for truth in (*TRUTHS, *HARDER):
        for asked in (few, many) if truth.name in MANY else (few,):
            design = "harder" if asked is few and truth in HARDER else asked.name
            n, n_mixed = (min(runs, most) for most in SAMPLES[design, truth.alike])
            yield Measured(
                truth,
                asked.name,
                measure_truth(asked, truth, n),
                measure_mixed_model(asked, truth, n_mixed),
                measure_mixed_model(asked, truth, n_mixed, WORDINGS_BY_GROUP),
            )


def claim(measured: Sequence[Measured]) -> dict[str, bool | None]:
    """Return which claims hold."""
    alike = [found for found in measured if found.truth.alike]
    differ = [found for found in measured if not found.truth.alike and found.mixed]
    many = [found for found in measured if found.design == "many"]
    return {
        f"of groups that are treated alike at most {MOST_FALSE:.2f} are told apart": all(
            found.share <= MOST_FALSE for found in alike
        ),
        "groups that are not are found at least as often as by the mixed models": (
            all(found.is_as_powerful for found in differ) if differ else None
        ),
        f"with many names and paraphrases intervals are at most {WIDEST} times an oracle's": all(
            found.ours.width_ratio <= WIDEST for found in many
        ),
    }


def run(runs: int = RUNS, asked_runs: int = ASKED_RUNS) -> Result:
    """Ask all truths."""
    measured = [*measure_truths(runs)]
    asking = ask_peers(load_study("refunds"), TRUTHS, asked_runs) if asked_runs else Asking({}, [])
    return Result(
        "Twins of apps whose truth is known: share of runs in which groups are told apart",
        ("truth", "names and wordings", "groups", "runs", "Clinometer", "same runs", "mixed model",
         "mixed model, wordings by group", "independent", *asking.told, "covered",
         "width by an oracle's"),
        [found.row(asking) for found in measured],
        claim(measured),
        [
            "a run has one contrast; same runs: the first 40 to 100, which the mixed model sees; "
            f"{asked_runs} runs of other tools",
            "few: six names a side and nine wordings, 216 answers; many: 24 and 24, 288 answers",
            "covered: the mean of all estimates, by intervals in other prompts",
            *asking.notes,
            "langfair is left out: it gives numbers and makes no decision",
            "–: no decision is made, or the outcome cannot be expressed",
        ],
    )  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cries_wolf")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--asked", type=int, default=ASKED_RUNS)
    arguments = parser.parse_args()
    show(run(arguments.runs, arguments.asked), Console(width=200))
