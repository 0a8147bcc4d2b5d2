"""The constants of the inference on means, each with the simulation that set it.

Where
    Formulas stand beside the code: variances of stereotypes in `crossed`, of means over several in
    `pooling`. Simulated pages are of 21 stereotypes unless said otherwise; *covered* is the share
    of true means that 95% intervals contain, a *false lean* one told on a page without any.
    `python -m benchmarks coverage` measures what they give together, by condition.
"""

from __future__ import annotations

import numpy as np

__all__ = [
    *(
        "CORNER",
        "EXACT",
        "FEWEST",
        "LEAST",
        "LENT",
        "MANY",
        "OF_DIFFERENCES",
        "OF_RESPONSES",
        "OWN_KNOWN",
        "PRIORS",
        "PRIOR_KNOWN",
    ),
    *("SCALES", "SHARED_LEVEL", "USUAL", "USUAL_DF", "USUAL_DRAWN", "USUAL_EXACT"),
]

#: Fewer stereotypes tell too little about how much variances differ: of the ratios of the others a
#: prior needs four (`crossed._prior`).
FEWEST = 5

#: Of more stereotypes, leaving one out changes next to nothing, and takes long.
MANY = 50

#: Degrees of freedom of a prior that are tried; the last is no difference between stereotypes, the
#: first that of noise which differs more than a log sd of 1.
PRIORS = np.array([0.5, 0.7, 1.0, 1.5, 2.0, 3, 4, 5, 6, 8, 10, 13, 16, 20, 30, 50, 100, 1e4])

#: Centres of a prior that are tried, as multiples of the mean ratio.
SCALES = np.exp(np.linspace(-2.5, 1.0, 71))

#: How much of a prior's degrees of freedom counts in those of a moderated variance, since the prior
#: is itself estimated, from a score of ratios, and need not have their distribution. Noise of log
#: sd 1, pages with a false lean: .12 with the whole, .077 with half, .045 to .07 with a quarter.
PRIOR_KNOWN = 0.25

#: Prior degrees of freedom, at most, for the variance of factors with one level, in means over
#: several: how far it goes with the rest of a stereotype's variance is known from others only.
#: GPT-4o's *racism*: 44 degrees of freedom with the whole prior, where about 12 are right.
LENT = 2.0

#: Components of variance as parts of (mean − low)(high − mean), of `crossed.CROSSED`, for fewer
#: stereotypes than `FEWEST`: about the mean of the shipped ones (`reference.components`), but for
#: wordings, which vary more in other models. Three stereotypes of the quick size were covered in 1
#: (associations) and .95 to 1 (decisions), at 1.0 to 2.0 times an oracle's width.
USUAL = (0.01, 0.02, 0.02, 0.01, 0.005)

#: The same of responses: of answers that are drawn, and of probabilities, where a model may be
#: surer than the embedded one (.001 to .03). Drawn ones of .2 covered as well, but would tell a
#: lean from 3 of 3 answers that are alike.
USUAL_DRAWN, USUAL_EXACT = 0.5, 0.1

#: The modes whose answers are probabilities.
EXACT = ("forced", "likelihood")

#: Degrees of freedom of what is usual, of responses; of another factor with n levels this by
#: (n − 1)². Two words leave one of their own, and with it a test that higher scores cannot weaken
#: has no power; six tell more by themselves. With 3 / (n − 1) a contrast of .25 standard deviations
#: alone was found in .21, with 3 in .09, now in .27 (oracle .71).
USUAL_DF = 3.0

#: How much of a factor's own degrees of freedom counts beside usual ones, and how much of these:
#: one factor may have all the variance, and the strongest case (`monotone`) finds more. Choices
#: between two of six names each of sd .3, neutral: a lean of .068 of runs with all and a quarter of
#: it, .059 with these.
OWN_KNOWN, USUAL_KNOWN = 0.65, 0.5

#: How round the corner of `crossed.excess` is, as a part of the noise. With .33 a contrast of .25
#: alone was found in .24, with .2 in .28.
CORNER = 0.25

#: Usual variances of differences of scores in pairs, as a part of those of scores: their scale is
#: twice as long.
OF_DIFFERENCES = 0.25

#: Level of a two-sided interval that two candidates for an upper bound share (Bonferroni).
SHARED_LEVEL = 0.975

#: The least variance of a mean over several, as a part of that without shared levels, which may
#: come out too small.
LEAST = 0.1

#: The least variance of a mean over several, as a part of that of responses. With all of it,
#: intervals are too wide where nothing else varies (covered .98 to 1); with none, .88.
OF_RESPONSES = 0.25
