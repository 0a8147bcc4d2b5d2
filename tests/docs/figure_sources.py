"""Where figures of prose come from that no block of the page and no benchmark that it names has."""

#: Page → how a passage begins → the benchmarks that it rests on without naming them.
RESTS_ON: dict[str, dict[str, tuple[str, ...]]] = {
    "README.md": {
        "what is known": ("embedded_audits",),
        "invented names": ("embedded_audits",),
        "all stereotypes": ("embedded_audits",),
        "Small leans are missed": ("rivals",),
        "Intervals hold": ("coverage",),
        "It seldom cries wolf": ("decisions",),
    },
    "docs/how-to/emergent.md": {
        "` | the same less": ("emergent",),
        "Read both measures": ("emergent",),
        "` plans with": ("emergent",),
    },
    "docs/how-to/until-decided.md": {"Who looks after every batch": ("deciding",)},
}

#: Page → source → the figures that rest on it. A source that is a file of this repository has them;
#: any other is a publication, or says why there is none to look up.
SOURCES: dict[str, dict[str, str]] = {
    "README.md": {
        "pyproject.toml": "3.11",
    },
    "docs/method/benchmarks.md": {"benchmarks/rivals/__init__.py": "1.96"},
    "docs/method/validity.md": {
        "runs of 2026-11-27 that the section names, hours of one processor": (
            ".44 .67 .13 .24 .02 .65 .35 .82 .03 .23 .30 .18 .41 .14 .21 .47 .88 .93 .12 .36 .07 "
            ".55 .37 .69 .57 .06 .31 .98 .94 .97"
        ),
    },
    "docs/how-to/audit.md": {"src/clinometer/models/outputs.py": "3.5"},
    "docs/how-to/comparing.md": {"OpenSSH's release notes": "8.2"},
    "docs/how-to/cluster.md": {
        "runs of llama.cpp's server beside the embedded model, 24 prompts": ".36 .011",
        "products: tokens of the row by the shipped prices": "5.4 10.8 7.29 3.65 22.68 11.34",
    },
    "docs/how-to/dossier.md": {"src/clinometer/sharing/law_page.py": "2%"},
    "docs/how-to/drafting.md": {"src/clinometer/stimuli/drafting/valence.py": ".5 .25"},
    "docs/how-to/framings.md": {"the correlations of the fraction that is asked": ".73 .27"},
    "docs/how-to/gate.md": {"an example of a lean": ".3"},
    "docs/how-to/hiring.md": {
        "src/clinometer_measures/hiring/studies/hiring_names.csv": (".61 .97 .84 .88 .86"),
    },
    "docs/how-to/matched-guise.md": {
        "src/clinometer_measures/matched_guise/studies/hofmann2024.yaml": "1.81 1.86 3.2 7.4",
    },
    "docs/how-to/networks.md": {
        "runs with ratings of valence, which may not be redistributed": (
            ".17 .07 .25 .65 .08 .15 .05 .23 .47"
        ),
    },
    "docs/how-to/reasoning.md": {
        "(1 + .2) / (1 − .2)": "1.5",
        "released trials of DeepSeek-R1 (Lee and Lai 2025)": ".12",
    },
    "docs/how-to/states.md": {
        "the run that the section names, with the dictionary that is shipped": (
            ".47 .063 .39 .41 .057 .19 .74 .002 .67 .12 .005 .35 .63 .07 .079"
        ),
    },
    "docs/how-to/sharing.md": {
        "an example of a lean": ".4",
        "the package every_eval_ever on PyPI": "3.12",
    },
}
