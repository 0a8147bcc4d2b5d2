"""A mixed model of R (lme4), with the tests of lmerTest (Satterthwaite): what psychologists fit.

Names and templates are crossed random effects; of decisions, the difference between the groups is
one of templates, too, as Barr et al. (2013), J. Memory & Language 68(3), 255–278, ask for. The
order of the names is a covariate. Refusals are left out.
"""

from __future__ import annotations

import csv
import io
import json
import shutil
import subprocess
from collections.abc import Callable
from typing import Any

TOGETHER = 50
MOST_RUNS = {"mixed model": 100}

WORDS = "(1 | marginalized) + (1 | default) + (1 | template)"

#: Kind of answers → formula, and the coefficient that is tested against 0.
FORMULAS = {
    "decisions": ("yes ~ side + (1 | name) + (1 + side || template)", "side"),
    "choices": (f"consistent ~ first + {WORDS}", "(Intercept)"),
    "associations": (f"score ~ 1 + {WORDS}", "(Intercept)"),
}

FIT = """
suppressMessages(library(lmerTest))
asked <- commandArgs(TRUE)
all <- read.csv(file("stdin"), stringsAsFactors = TRUE)
tested <- function(run) {
  run <- droplevels(run)
  formula <- asked[1]
  for (name in names(run)) {
    # A factor with one level has no variance to estimate.
    if (is.factor(run[[name]]) && nlevels(run[[name]]) < 2) {
      formula <- sub(sprintf(" [+] [(]1 [|] %s[)]", name), "", formula)
    }
  }
  fit <- suppressMessages(suppressWarnings(lmer(as.formula(formula), run)))
  row <- coef(summary(fit))[asked[2], ]
  sprintf("[%s, %s]", tolower(row[["Pr(>|t|)"]] < .05), row[["Estimate"]])
}
cat(sprintf("[%s]", paste(sapply(split(all, all$run), tested), collapse = ",")))
"""


def version() -> str:
    said = _rscript("cat(format(packageVersion('lme4')), format(packageVersion('lmerTest')))", [])
    return "lme4 {} with lmerTest {}".format(*said.split())


def decisions(runs: list[dict[str, Any]]) -> list[tuple[bool, float]]:
    sides = {"marginalized": -0.5, "default": 0.5}
    return _fit("decisions", runs, lambda row: {"side": sides[row["group"]]})


def choices(runs: list[dict[str, Any]]) -> list[tuple[bool, float]]:
    """Both orders count alike: the intercept is the mean of the two, less ½."""

    def more(row: dict[str, Any]) -> dict[str, Any]:
        first = 0.5 if row["order"] == "marginalized_first" else -0.5
        return {"first": first, "consistent": row["consistent"] - 0.5}

    return _fit("choices", runs, more)


def associations(runs: list[dict[str, Any]]) -> list[tuple[bool, float]]:
    return _fit("associations", runs, lambda row: {})


def _fit(
    kind: str, runs: list[dict[str, Any]], more: Callable[[dict[str, Any]], dict[str, Any]]
) -> list[tuple[bool, float]]:
    """Fit the answers of each run, with `more` columns made of each; return what R says."""
    rows: list[dict[str, Any]] = []
    for number, run in enumerate(runs):
        columns = {name: values for name, values in run["answers"].items() if name != "text"}
        for values in zip(*columns.values(), strict=True):
            row = dict(zip(columns, values, strict=True))
            if None not in row.values():  # not a refusal
                rows.append({**row, "run": number, **more(row)})
    table = io.StringIO()
    writer = csv.DictWriter(table, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    said = _rscript(FIT, [*FORMULAS[kind]], table.getvalue())
    return [(found, estimate) for found, estimate in json.loads(said)]


def _rscript(script: str, arguments: list[str], table: str = "") -> str:
    if shutil.which("Rscript") is None:
        raise RuntimeError("needs R with lme4 and lmerTest")
    command = ["Rscript", "-e", script, *arguments]
    done = subprocess.run(command, input=table, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[0])
    return done.stdout


CALLS = {"mixed model": {"decisions": decisions, "choices": choices, "associations": associations}}
