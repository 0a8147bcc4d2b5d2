"""Hiring: what is planted is found, ratios are covered, and small cells are not over-read.

Question
    Do intervals of impact ratios contain the true ratio to the most selected group, also where few
    are selected? Is what is planted in simulated models recovered, and how often does a page claim
    a lean where candidates are equal? Are shrunken rates of intersections closer to the truth?
Peer
    The nominal level .95; pages with a false lean, at most .06; raw rates.
How
    Ratios: candidates of 8 groups (4 races × 2 genders), 6 names each, 14 occupations, `PER_CELL`
    answers a name and occupation. The log odds of a callback vary over names (sd .3), occupations
    (.5) and both (.2); a rate is that over all of these. `RUNS` runs a scenario; intervals of all
    groups but the reference count. Simulated models: size standard of the audit, mode structured.
    Wordings, stereotypes and names depart from the lean with sd `SPREAD`, but where candidates are
    equal. A page is one model; a false lean is a verdict of a mean, over all, of a category or of a
    contrast, in either dimension.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

RUNS = 1500
PER_CELL = 4
NAMES, OCCUPATIONS = 6, 14
SDS = {"names": 0.3, "occupations": 0.5, "cells": 0.2}
LEVELS = [(race, gender) for race in "ABCD" for gender in ("w", "m")]

#: Scenario → rate of each group, at the middle of names and occupations.
SCENARIOS: dict[str, list[float]] = {
    "all 5%": [0.05] * 8,
    "2% to 8%": [0.02, 0.03, 0.05, 0.08, 0.05, 0.05, 0.08, 0.03],
    "all 30%": [0.3] * 8,
    "20% to 60%": [0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6],
    "one at half": [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.25, 0.25],
}
