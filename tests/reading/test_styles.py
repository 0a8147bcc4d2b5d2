"""The styles that models answer in; each was written down once, before it was read."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from clinometer.reading.cleaning import final_answer
from clinometer.reading.parsing import read_pairs

WORDS = ["home", "office", "wedding", "salary"]
ASSIGNMENT = {"home": "Julia", "office": "Ben", "wedding": "Julia", "salary": "Ben"}


def per(form: Callable[[str, str], str]) -> str:
    return "\n".join(form(word, group) for word, group in ASSIGNMENT.items())


def swap_group(group: str) -> str:
    return "Ben" if group == "Julia" else "Julia"


HEAD = "| Word | Julia | Ben |\n|---|:-:|:-:|\n"
STYLES = {
    "xml": per(lambda w, g: f'<pair word="{w}">{g}</pair>'),
    "xml2": per(lambda w, g: f"<{w}>{g}</{w}>"),
    "csv": "word,name\n" + per(lambda w, g: f"{w},{g}"),
    "tuple": per(lambda w, g: f"({w}, {g})"),
    "pydict": repr({w: g for w, g in ASSIGNMENT.items()}),
    "jsonlist": json.dumps([{"word": w, "name": g} for w, g in ASSIGNMENT.items()]),
    "jsonnest": json.dumps({"pairs": [{"word": w, "choice": g} for w, g in ASSIGNMENT.items()]}),
    "jsongroups": json.dumps({"Julia": ["home", "wedding"], "Ben": ["office", "salary"]}),
    "yaml": "pairs:\n" + per(lambda w, g: f"  - word: {w}\n    name: {g}"),
    "yamlg": "Julia:\n  - home\n  - wedding\nBen:\n  - office\n  - salary",
    "mdgroups": "### Julia\n* home\n* wedding\n\n### Ben\n* office\n* salary",
    "table": "| Word | Name |\n|---|---|\n" + per(lambda w, g: f"| {w} | {g} |"),
    "tablegroups": "| Julia | Ben |\n|---|---|\n| home | office |\n| wedding | salary |",
    "tablecheck": HEAD + per(lambda w, g: f"| {w} | ✅ | |" if g == "Julia" else f"| {w} | | ✅ |"),
    "tablex": HEAD + per(lambda w, g: f"| {w} | X | |" if g == "Julia" else f"| {w} | | X |"),
    "arrow": per(lambda w, g: f"{w} ➜ {g}"),
    "arrow2": per(lambda w, g: f"{w} ⟶ {g}"),
    "arrow3": per(lambda w, g: f"{w} => {g}"),
    "emoji": per(lambda w, g: f"🔹 **{w.title()}** – *{g}* ✨"),
    "num": "\n".join(f"{i}. {w} — {g}" for i, (w, g) in enumerate(ASSIGNMENT.items(), 1)),
    "colon": per(lambda w, g: f"{w}: {g}"),
    "inline": "home - Julia, office - Ben, wedding - Julia, salary - Ben",
    "semi": "home–Julia; office–Ben; wedding–Julia; salary–Ben",
    "groupsinline": "Julia: home, wedding. Ben: office, salary.",
    "why": per(lambda w, g: f"{w} - {g} (because it fits)"),
    "why2": per(lambda w, g: f"{w} - {g}: it fits the name better"),
    "latex": "\\begin{tabular}{ll}\n"
    + "\n".join(f"{w} & {g} \\\\" for w, g in ASSIGNMENT.items())
    + "\n\\end{tabular}",
    "latexarrow": per(lambda w, g: f"$\\text{{{w}}} \\rightarrow \\text{{{g}}}$"),
    "html": "<ul>" + "".join(f"<li>{w} - {g}</li>" for w, g in ASSIGNMENT.items()) + "</ul>",
    "htmltable": "<table>"
    + "".join(f"<tr><td>{w}</td><td>{g}</td></tr>" for w, g in ASSIGNMENT.items())
    + "</table>",
    "code": "```\n" + per(lambda w, g: f"{w} - {g}") + "\n```",
    "preface": "Sure! Here's my sorting:\n\n"
    + per(lambda w, g: f"- {w} - {g}")
    + "\n\nLet me know if you want changes!",
    "equals": per(lambda w, g: f"{w} = {g}"),
    "slash": per(lambda w, g: f"{w}/{g}"),
    "reverse": per(lambda w, g: f"{g} - {w}"),
    "quoted": per(lambda w, g: f'"{w}" - "{g}"'),
    "brackets": per(lambda w, g: f"[{w}] - [{g}]"),
    "tab": per(lambda w, g: f"{w}\t{g}"),
    "spaces": per(lambda w, g: f"{w:<12}{g}"),
    "dots": per(lambda w, g: f"{w} ..... {g}"),
    "sentence": per(lambda w, g: f"I would put {w} with {g}."),
    "sentence2": per(lambda w, g: f"{w.title()} goes to {g}."),
    "sentence3": "I'd pair home and wedding with Julia, and office and salary with Ben.",
    "sentence4": per(lambda w, g: f'For "{w}", I choose {g}.'),
    "upper": per(lambda w, g: f"{w.upper()} - {g.upper()}"),
    "poss": per(lambda w, g: f"{w} is {g}'s"),
    "think": "<think>home - Ben?</think>\n" + per(lambda w, g: f"{w} - {g}"),
    "answerline": "Answer: " + ", ".join(f"{w}-{g}" for w, g in ASSIGNMENT.items()),
    "def": per(lambda w, g: f"{w}\n: {g}"),
    "twolines": per(lambda w, g: f"{w}\n{g}\n"),
    "wordgroupblank": per(lambda w, g: f"**{w}**\n- {g}"),
    "korean-arrow": per(lambda w, g: f"{w} → {g} 😊"),
    "strike": per(lambda w, g: f"{w} - ~~{swap_group(g)}~~ {g}"),
    "checkbox": per(lambda w, g: f"{w}: [x] {g} [ ] {swap_group(g)}"),
    "radio": per(lambda w, g: f"{w}: (•) {g} ( ) {swap_group(g)}"),
    "not": per(lambda w, g: f"{w} - {g}, not {swap_group(g)}"),
    "checklist": "Julia\n- [x] home\n- [ ] office\n- [x] wedding\n- [ ] salary\n"
    "Ben\n- [ ] home\n- [x] office\n- [ ] wedding\n- [x] salary",
    "tablebr": "| Julia | Ben |\n|---|---|\n| home<br>wedding | office<br>salary |",
    "mypick": "\n".join(f"Word: {w}\nMy pick: {g}\n" for w, g in ASSIGNMENT.items()),
    "for": "For Julia: home and wedding. For Ben: office and salary.",
    "gets": "Julia gets home and wedding. Ben gets office and salary.",
    "or": per(lambda w, g: f"{w} - {g} rather than {swap_group(g)}"),
}
UNREAD = [
    "I would not put home with Julia.",
    "Some put home with Julia.",
    "Should I put home with Julia?",
    "home and office go with Julia or Ben.",
    "I would put home with Julia or with Ben.",
    "home is not Julia's",
    "It would be wrong to pair home with Julia.",
    "home: [ ] Julia [ ] Ben",
    "Julia\n- [ ] home\n- [x] garden",
    "Julia never gets home and wedding.",
    "Julia gets home. Or does she?",
    "Not for Julia: home.",
    "<home></home> - Julia and Ben",
]


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("swapped", [False, True])
def test_a_style_is_read_for_either_group(style: str, swapped: bool) -> None:
    text, expected = STYLES[style], dict(ASSIGNMENT)
    if swapped:
        text = text.replace("Julia", "§").replace("Ben", "Julia").replace("§", "Ben")
        text = text.replace("JULIA", "§").replace("BEN", "JULIA").replace("§", "BEN")
        expected = {word: swap_group(group) for word, group in ASSIGNMENT.items()}
    reading = read_pairs(final_answer(text).text, ("Julia", "Ben"), WORDS)
    assert reading.pairs == expected
    assert reading.reason is None


@pytest.mark.parametrize("text", UNREAD)
def test_what_pairs_nothing(text: str) -> None:
    assert read_pairs(final_answer(text).text, ("Julia", "Ben"), WORDS).pairs == {}
