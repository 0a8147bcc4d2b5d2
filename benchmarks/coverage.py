"""Intervals and verdicts on scores of known truth.

Question
    How often does the 95% interval contain the truth, at every level and for each target? How wide
    is it? How often does a page of neutral stereotypes show a lean, and how often is a mean at the
    margin called near neutral? How often does a treatment that only interacts with wordings show?
Peer
    The width of an oracle that knows the error of the estimate: 2 × 1.96 × its root mean square
    over the runs of the same row. Means over several stereotypes have another, `exact`: by how much
    an interval that covers .95 exactly is wider than the oracle's where only wordings vary (for
    *like these* only wordings, or only stereotypes), t × E[s] / 1.96 σ with the df of their number.
How
    Scores are drawn on the trials of an audit (`simulated_scores`) and estimated by
    `clinometer.estimate`; each run is a model of its own. Every condition on word associations in
    free text, two on every other instrument and mode. Deterministic: each job seeds itself by its
    name. Other instruments and modes at the quick and standard size. Coverage is that of each
    interval alone, ``together`` the share of runs in which all intervals of a level, or of a page
    of stereotypes, categories and all, hold at once.
    Verdicts that are for one wording or these words only are no leans. Two processes.
    ``python -m benchmarks.coverage quick [PART…]`` does few runs of the jobs
    with a part in their name (by default word associations in free text), in one process, and
    saves nothing.
"""

from __future__ import annotations

import os
import sys
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from typing import Any

from benchmarks.measuring import Result, Value

SIZES = ("quick", "standard", "paper")
RUNS = {"spread": 60, "neutral": 60, "margin": 20}
FEW = {"spread": 20, "neutral": 20, "margin": 10}
#: Runs estimated in one call.
BATCH = 10
COVER, FEWEST = 0.95, RUNS["spread"] // 2
COVERED, WIDEST, MOST, MS = (0.93, 0.97), 1.25, 0.06, 0.3
#: Of pages whose stereotypes have noise that differs by a log sd of 1.
MOST_UNEQUAL, UNEQUAL = 0.08, "very unequal"

FIRST = ("bai2025", "word_association", "free")
OTHERS = (
    ("bai2025", "word_association", "forced"),
    ("mist2025", "word_association", "free"),
    ("mist2025", "word_association", "forced"),
    ("bai2025", "relative_decision", "free"),
    ("bai2025", "relative_decision", "forced"),
    ("mist2025", "affective_attribution", "free"),
    ("mist2025", "affective_attribution", "forced"),
)
ELSEWHERE = ("all effects", "unequal")
#: Runs of few stereotypes with several words a side (one would be held fixed), with all effects.
FEW_STEREOTYPES = {"one stereotype": 1, "three stereotypes": 3}
ONE_WORDING = "one wording"
TREATED = (FIRST, ("mist2025", "word_association", "free"))
ONE_PAIR = "one pair of words"
#: All levels together; a claim about a page is about them.
PAGE, OF_A_PAGE = "page", ("leans", "together")
TOLD = ("leans", "near", "shown")
MEASURED = ("coverage", "together", "width", "exact", *TOLD)

Row = dict[str, Any]


@dataclass(frozen=True)
class Job:
    """Runs of one condition on the trials of one size; condition ``treatment``: contrasts."""

    study: str
    instrument: str
    mode: str
    size: str
    condition: str
    few: bool = False

    @property
    def name(self) -> str:
        """Of the row."""
        return " ".join((self.study, self.instrument, self.mode, self.condition))

    @property
    def seed(self) -> int:
        """Of the draws."""
        return zlib.crc32(f"{self.name} {self.size}".encode())

    def runs(self, page: str) -> int:
        """Return the number of runs; half as many for other instruments and modes."""
        if self.few:
            return FEW[page]
        own = (self.study, self.instrument, self.mode) == FIRST
        return RUNS[page] if own else RUNS[page] // 2


def run() -> Result:
    return measure([job for size in SIZES for job in _jobs(size)])


def measure(jobs: Sequence[Job]) -> Result:
    """Do the jobs in two processes and set out what they measured."""
    # Read by the processes when they start; each is to keep to one core.
    os.environ |= {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1"}
    workers = 1 if jobs[0].few else 2
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        times = list(pool.map(time_of_estimating, SIZES))
        done = [row for rows in pool.map(do, jobs) for row in rows]
    return Result(
        "Intervals and verdicts on scores of known truth: quick, standard, paper size",
        ("scores, level, target", *MEASURED),
        _table(done),
        _claims(done, times),
        _notes(done, times),
    )


def _jobs(size: str) -> Iterator[Job]:
    from benchmarks.simulated_scores import ANSWERS, CONDITIONS

    for condition in CONDITIONS:
        if condition != "answers" or ANSWERS.exists():
            yield Job(*FIRST, size, condition)
    for condition in FEW_STEREOTYPES:
        yield Job(*FIRST, size, condition)
    if size == SIZES[-1]:  # the largest takes as long as both others
        return
    for other in OTHERS:
        for condition in ELSEWHERE:
            yield Job(*other, size, condition)
    for treated in TREATED:
        yield Job(*treated, size, "treatment")
        yield Job(*treated, size, "text")


def do(job: Job) -> list[Row]:
    """Measure one job: a row per level and target."""
    import numpy as np

    from benchmarks.simulated_scores import Simulation

    simulation, rng = Simulation(_trials(job)), np.random.default_rng(job.seed)
    rows = {"treatment": _contrasts, "text": _texts}.get(job.condition, _estimates)
    return [{"name": job.name, "size": job.size, **row} for row in rows(job, simulation, rng)]


def _trials(job: Job) -> Any:
    from clinometer.audits.sizes import PlanOptions, sized_plan

    one = PlanOptions(studies=[job.study], instruments=[job.instrument], modes=[job.mode])
    return sized_plan(job.size, ["openai/gpt-4o"], one).trials()


def _estimates(job: Job, simulation: Any, rng: Any) -> list[Row]:
    import polars as pl

    pages = {}
    for page in RUNS:
        if page == "spread" or job.condition != "answers":
            pages[page] = pl.concat(_estimated(job, simulation, page, rng))
    spread = _with_one_pair(pages["spread"], simulation.trials)
    rows: dict[tuple[str, str], Row] = {}
    if job.condition == ONE_WORDING:  # intervals are for it, as their verdicts say
        spread = spread.clear()
    of_one = pl.col("conditional_on").str.contains("one order", literal=True)
    spread = spread.filter(~of_one.fill_null(False))
    for key, of_row in spread.group_by("level", "target", maintain_order=True):
        exact = _exact(simulation.trials, *map(str, key))
        rows[key] = {"level": key[0], "target": key[1], "exact": exact, **_coverage(of_row)}
    for page, (told, share) in {"neutral": ("leans", _leans), "margin": ("near", _near)}.items():
        if page in pages:
            judged = pages[page].filter(pl.col("verdict").is_not_null())
            for key, of_row in judged.group_by("level", "target"):
                named = {"level": key[0], "target": key[1]}
                rows.setdefault(key, named)[told] = share(of_row)
    page: Row = {"level": PAGE, "target": "these"}
    if "neutral" in pages:
        page["leans"] = _leans(pages["neutral"].filter(target="these").drop_nulls("verdict"))
    if spread.height:
        page["together"] = _together(spread.filter(target="these"))
    return [*rows.values(), page]


def _estimated(job: Job, simulation: Any, page: str, rng: Any) -> Iterator[Any]:
    """Draw and estimate runs, some in a call; yield the estimates with their truths."""
    import polars as pl

    import clinometer
    from benchmarks.simulated_scores import CONDITIONS

    few = FEW_STEREOTYPES.get(job.condition)
    condition = replace(CONDITIONS["all effects" if few else job.condition], page=page)
    stereotypes = _with_words(simulation.trials, several=True)
    for names in _batches(job.runs(page)):
        drawn = [(name, frame) for name in names for frame in simulation.draw(condition, rng)]
        named = [frame.with_columns(model=pl.lit(name)) for name, frame in drawn]
        scores, truths = pl.concat(named[::2]), pl.concat(named[1::2])
        if few:
            chosen = pl.concat(_chosen(stereotypes, name, few, rng) for name in names)
            scores, truths = (one.join(chosen, on=chosen.columns) for one in (scores, truths))
        keys = ["model", "level", "category", "stereotype", "dimension", "target"]
        own = _own_rows(clinometer.estimate(scores), simulation.measure.name)
        if few:  # the truths of means over them are not those of all
            own = own.filter(level="stereotype")
        joined = own.join(truths, on=keys, how="left", nulls_equal=True)
        if joined["truth"].null_count():
            raise RuntimeError(f"{job.name}: rows without a truth: {joined.filter(truth=None)}")
        yield joined


def _chosen(stereotypes: Any, name: str, few: int, rng: Any) -> Any:
    """Return some stereotypes of one run."""
    import polars as pl

    places = rng.choice(len(stereotypes), few, replace=False)
    return pl.DataFrame({"model": name, "stereotype": stereotypes.gather(places.tolist())})


def _batches(runs: int) -> Iterator[list[str]]:
    """Name the runs of each call."""
    for start in range(0, runs, BATCH):
        yield [f"run {k}" for k in range(start, min(start + BATCH, runs))]


def _own_rows(estimates: Any, measure: str) -> Any:
    """Return the rows with intervals of ours; without a column `target` they mean ``these``."""
    import polars as pl

    if "target" not in estimates.columns:
        estimates = estimates.with_columns(target=pl.lit("these"))
    own = pl.col("factor").is_null() & pl.col("method").is_in(["clustered", "generalised"])
    own &= pl.col("level").is_in(["stereotype", "category", "model"])
    return estimates.filter(own, measure=measure).select(
        *("model", "level", "category", "stereotype", "dimension", "target"),
        *("estimate", "ci_low", "ci_high", "pointwise_low", "pointwise_high"),
        *("verdict", "conditional_on"),
    )


def _with_one_pair(rows: Any, trials: Any) -> Any:
    """Add the stereotypes with one pair of group words again, as a level of their own."""
    import polars as pl

    single = _with_words(trials, several=False)
    again = rows.filter(pl.col("stereotype").is_in(single.implode()), level="stereotype")
    return pl.concat([rows, again.with_columns(level=pl.lit(ONE_PAIR))])


def _with_words(trials: Any, *, several: bool) -> Any:
    """Return the stereotypes with several words on both sides, or with one."""
    import polars as pl

    sides = trials.group_by("stereotype", maintain_order=True).agg(
        pl.col("marginalized", "default").n_unique()
    )
    of_kind = (
        pl.col("marginalized", "default") > 1 if several else pl.col("marginalized", "default") == 1
    )
    return sides.filter(pl.all_horizontal(of_kind))["stereotype"]


def _coverage(rows: Any) -> Row:
    """Return coverage, width by that of the oracle, the error of coverage, and the bias.

    `bias` is the mean error of the estimates, in its standard errors over runs.
    """
    import polars as pl

    error = pl.col("estimate") - pl.col("truth")
    rows = rows.with_columns(
        covered=pl.col("truth").is_between("pointwise_low", "pointwise_high").cast(pl.Float64),
        width=pl.col("pointwise_high") - pl.col("pointwise_low"),
        error=error,
    )
    of_runs = rows.group_by("model").agg(pl.col("covered", "error").mean())
    runs = len(of_runs)
    oracle = rows.group_by("category", "stereotype", "dimension").agg(
        (pl.col("error") ** 2).mean().sqrt()
    )
    known = 2 * 1.96 * float(oracle["error"].mean())
    spread = float(of_runs["error"].std()) / runs**0.5
    return {
        "coverage": rows["covered"].mean(),
        "together": _together(rows),
        "coverage_se": float(of_runs["covered"].std() or 0.0) / runs**0.5,
        "width": rows["width"].mean() / known if known and rows["width"].count() else None,
        "untold": rows["width"].null_count() / len(rows),
        "bias": float(of_runs["error"].mean()) / spread if spread else 0.0,
    }


def _exact(trials: Any, level: str, target: str) -> float | None:
    """Return the width of an exact interval by that of the oracle; see the head of this module."""
    import numpy as np
    import polars as pl
    from scipy.special import gammaln, stdtrit

    keys = {"category": ("category", "dimension"), "model": ("dimension",)}.get(level)
    if keys is None:
        return None
    known = pl.col("variation").n_unique()
    if target == "like these":
        known = pl.min_horizontal(known, pl.col("stereotype").n_unique())
    df = trials.group_by(keys).agg(n=known)["n"].to_numpy() - 1.0
    spread = np.sqrt(2.0 / df) * np.exp(gammaln((df + 1.0) / 2.0) - gammaln(df / 2.0))
    return float((stdtrit(df, 0.975) * spread / 1.96).mean())


def _together(rows: Any) -> float:
    """Return the share of runs of which all intervals hold."""
    import polars as pl

    holds = pl.col("truth").is_between("ci_low", "ci_high")
    return float(rows.group_by("model").agg(holds.all())["truth"].mean())


def _leans(rows: Any) -> float:
    """Return the share of runs in which any row has a lean that is not restricted."""
    import polars as pl

    told, restricted = pl.col("verdict").str.contains("^(consistent|reversed)"), pl.lit(", for th")
    lean = told & ~pl.col("verdict").str.contains(restricted, literal=True)
    return float(rows.group_by("model").agg(lean.any())["verdict"].mean())


def _near(rows: Any) -> float:
    """Return the share of rows that are said to lie within the margin."""
    return float(rows["verdict"].str.contains("equivalent|within margin").mean())


def _contrasts(job: Job, simulation: Any, rng: Any) -> list[Row]:
    """Return the share of contrasts with p < .05 where the true difference is 0."""
    import polars as pl

    from benchmarks.simulated_scores import CONDITIONS
    from clinometer.statistics.contrasts import contrast

    found = []
    for names in _batches(job.runs("neutral")):
        drawn = (simulation.treated(CONDITIONS["all effects"], rng) for _ in names)
        scores = pl.concat(
            one.with_columns(model=pl.lit(name)) for one, name in zip(drawn, names, strict=True)
        )
        estimates = contrast(scores, simulation.measure, factor="intervention").estimates
        found.append(estimates.filter(measure=simulation.measure.name, method="clustered"))
    rows = pl.concat(found).filter(pl.col("level").is_in(["stereotype", "category", "model"]))
    shares = rows.group_by("level", maintain_order=True).agg((pl.col("p") < 0.05).mean())
    return [{"level": level, "target": "these", "shown": share} for level, share in shares.rows()]


def _texts(job: Job, simulation: Any, rng: Any) -> list[Row]:
    """Return how far estimates from answers as text are from those of their scores, at most.

    Text also tells the share of each word, and so gives rows that scores alone do not give: the
    intervals of each mean alone are compared.
    """
    import clinometer
    from benchmarks.simulated_scores import CONDITIONS
    from clinometer.results.estimates import KEYS

    expected, _ = simulation.draw(CONDITIONS["all effects"], rng)
    responses, scores = simulation.write(expected, rng)
    read = clinometer.score(responses, job.study, instrument=job.instrument).scores
    of_text, of_scores = (
        clinometer.estimate(one).filter(measure=job.instrument) for one in (read, scores)
    )
    keys = [*KEYS, "method", "alternative"]
    both = of_scores.join(of_text, on=keys, how="left", nulls_equal=True, suffix="_text")
    apart = both.select(
        _apart(name) for name in ("estimate", "pointwise_low", "pointwise_high", "p")
    )
    return [{"level": "all", "target": "text", "apart": max(*apart.max().row(0))}]


def _apart(name: str) -> Any:
    """Return how far two columns are apart; infinitely where one has no number."""
    import polars as pl

    one, other = pl.col(name), pl.col(f"{name}_text")
    known = one.is_null() == other.is_null()
    return pl.when(known).then((one - other).abs()).otherwise(float("inf"))


def time_of_estimating(size: str) -> float:
    """Return processor time in ms an answer, of one model's word associations."""
    import numpy as np

    import clinometer
    from benchmarks.simulated_scores import CONDITIONS, Simulation

    simulation = Simulation(_trials(Job(*FIRST, size, "all effects")))
    scores, _ = simulation.draw(CONDITIONS["all effects"], np.random.default_rng(0))
    times = []
    for _ in range(4):  # the first is the warm-up
        start = time.process_time()
        clinometer.estimate(scores)
        times.append(time.process_time() - start)
    return 1e3 * min(times[1:]) / len(scores)


def _table(done: Iterable[Row]) -> list[list[Value]]:
    """Set out a row per scores, level and target, with sizes side by side."""
    places: dict[str, dict[str, Row]] = {}
    for row in (row for row in done if "apart" not in row):
        places.setdefault(f"{row['name']}, {row['level']}, {row['target']}", {})[row["size"]] = row
    return [
        [name, *(_of_sizes([by_size.get(size, {}).get(one) for size in SIZES]) for one in MEASURED)]
        for name, by_size in places.items()
    ]


def _of_sizes(values: Sequence[float | None]) -> str | None:
    known = any(value is not None for value in values)
    return "  ".join("–" if v is None else f"{v:.3f}" for v in values) if known else None


def _claims(done: Sequence[Row], times: Sequence[float]) -> dict[str, bool | None]:
    low, high = COVERED
    covered = [row for row in done if row.get("coverage") is not None]
    apart = [row["apart"] for row in done if "apart" in row]
    these, like = (
        [row for row in covered if row["target"] == target] for target in ("these", "like these")
    )
    several = (row for row in these if not row["name"].endswith(tuple(FEW_STEREOTYPES)))
    widths = [row["width"] for row in several if row["level"] == "stereotype"]
    return {
        f"coverage of 'these' is {low} or more in every row (two standard errors allowed)": all(
            low <= row["coverage"] + 2 * row["coverage_se"] for row in these
        ),
        f"coverage of 'these' is at most {high} in every row": all(
            row["coverage"] - 2 * max(row["coverage_se"], _error(COVER, FEWEST)) <= high
            for row in these
        ),
        f"coverage of 'like these' is {low} or more in every row": all(
            low <= row["coverage"] + 2 * row["coverage_se"] for row in like
        ),
        f"intervals of a page hold at once on {low} of pages or more, by condition": all(
            low <= share + 2 * _error(share, runs) for share, runs in _told(done, "together")
        ),
        f"width of stereotypes is at most {WIDEST} times the oracle's, among five or more": (
            max(widths, default=0.0) <= WIDEST
        ),
        f"any false lean on at most {MOST:.0%} of neutral pages, by condition "
        f"({MOST_UNEQUAL:.0%} where very unequal)": all(
            share - 2 * _error(share, runs) <= (MOST_UNEQUAL if UNEQUAL in name else MOST)
            for name, (share, runs) in _by_condition(done, "leans").items()
        ),
        f"near neutral at the margin in at most {MOST:.0%}, by condition": all(
            share <= MOST for share, _ in _told(done, "near")
        ),
        f"a treatment of wordings: p < .05 in at most {MOST:.0%} of stereotypes": all(
            share <= MOST for share, _ in _told(done, "shown")
        ),
        f"estimating takes under {MS} ms an answer": max(times) < MS,
        "estimates from answers as text are those of their scores": (
            max(apart) < 1e-9 if apart else None
        ),
        "the mean estimate is the truth (within four standard errors)": all(
            abs(row["bias"]) < 4 for row in covered
        ),
    }


def _error(share: float, runs: int) -> float:
    return float((share * (1.0 - share) / runs) ** 0.5)


def _by_condition(done: Iterable[Row], told: str) -> dict[str, tuple[float, int]]:
    """Return shares of pages, or of stereotypes' rows, all sizes together, with their runs."""
    shares: dict[str, list[float]] = {}
    level = PAGE if told in OF_A_PAGE else "stereotype"
    for row in done:
        if row["level"] == level and row["target"] == "these" and row.get(told) is not None:
            shares.setdefault(row["name"], []).append(row[told])
    return {
        name: (
            sum(of) / len(of),
            len(of) * RUNS["neutral"] // (1 if " ".join(FIRST) in name else 2),
        )
        for name, of in shares.items()
    }


def _told(done: Iterable[Row], told: str) -> list[tuple[float, int]]:
    return list(_by_condition(done, told).values())


def _range(values: Sequence[float]) -> str:
    """Write the ends of a range and its middle, the lowest first."""
    if not values:
        return "–"
    ordered = sorted(values)
    middle = ordered[len(ordered) // 2]
    return f"{ordered[0]:.3f} to {ordered[-1]:.3f}, half of them {middle:.3f} or more"


def _notes(done: Sequence[Row], times: Sequence[float]) -> list[str]:
    spent = dict(zip(SIZES, times, strict=True))
    untold = max(row.get("untold", 0.0) for row in done)
    covered = [row for row in done if row.get("coverage") is not None]
    ranges = {
        (target, level): _range(
            [row["coverage"] for row in covered if (row["target"], row["level"]) == (target, level)]
        )
        for target in ("these", "like these")
        for level in ("stereotype", ONE_PAIR, "category", "model")
    }
    return [
        "width, exact: by the oracle's; together: share of runs in which all intervals of a level, "
        "or of a page, hold; leans: share of neutral pages with any lean that is not restricted; "
        "near: share said to be near neutral where the mean is the margin; shown: share of "
        "treatments with p < .05",
        *(f"covered, {target}, {level}: {text}" for (target, level), text in ranges.items()),
        *(
            f"{told}, {PAGE if told in OF_A_PAGE else 'stereotypes'}, by condition, all sizes, the "
            f"most first: {_worst(done, told)}"
            for told in TOLD
        ),
        f"processor time in ms an answer, one model: {_text(spent)}",
        f"rows without an interval, at most: {untold:.2f}",
        f"runs in full: {RUNS['spread']} for coverage, {RUNS['neutral']} neutral, "
        f"{RUNS['margin']} at the margin; half as many on other instruments and modes",
    ]


def _worst(done: Sequence[Row], told: str, number: int = 5) -> str:
    shares = {name: share for name, (share, _) in _by_condition(done, told).items()}
    worst = sorted(shares.items(), key=lambda one: -one[1])
    rest = [share for _, share in worst[number:]]
    more = f"; the others {min(rest):.3f} to {max(rest):.3f}" if rest else ""
    return "; ".join(f"{share:.3f} {name}" for name, share in worst[:number]) + more


def _text(by_size: dict[str, float]) -> str:
    return ", ".join(f"{value:.3f} {size}" for size, value in by_size.items())


if __name__ == "__main__":
    from rich.console import Console

    from benchmarks.measuring import show

    parts = [one for one in sys.argv[1:] if one != "quick"] or [" ".join(FIRST)]
    named = [
        job for size in SIZES for job in _jobs(size) if any(part in job.name for part in parts)
    ]
    console = Console(width=None if sys.stdout.isatty() else 150, highlight=False)
    show(measure([replace(job, few=True) for job in named]), console)
