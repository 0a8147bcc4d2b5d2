r"""The answer that a model gave, without what servers, templates and exports leave around it.

Everything that reads answers reads `final_answer`. What is left out or rewritten:

    ====================  ========================================================================
    printed objects       a chat completion or its message, as JSON or as Python shows it: its text
    HTML entities         ``&nbsp;``, ``&gt;``, ``&#8211;``: as browsers show them
    reasoning             between marks that name it, in any of the ways of servers and templates
                          (``<think>``, ``[THINK]``, ``◁think▷``, ``<|START_THINKING|>``, channels,
                          headings of Granite, ``...done thinking``, an HTML ``details``);
                          reasoning that does not end leaves nothing
    ends of turns         what follows a token that ends a turn, or begins the user's
    wrapping              tokens before the answer; ``<answer>``, ``<response>``
    LaTeX                 ``\text{}``, ``\boxed{}``, ``\rightarrow``: as they are printed
    crossed out           ``~~Ben~~``; of ``✅ Julia ❌ Ben`` the second; in tables, a check mark
                          becomes the head of its column
    ====================  ========================================================================

Sources
    Reasoning parsers of vLLM and SGLang, the tags of Open WebUI, OpenAI's harmony format, and the
    chat templates of Llama, Qwen, Gemma, Mistral, DeepSeek, Command, Granite, Phi, GLM and Kimi.

Time is linear in the length of the text; nothing of it is evaluated but literals.
"""

from __future__ import annotations

import ast
import html
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple


class Final(NamedTuple):
    """What a model gave as its answer."""

    text: str
    cut: bool
    """Whether reasoning began and did not end, so that there is no answer."""


def final_answer(text: str) -> Final:
    r"""Return the answer in a text that a server or a table holds.

    Examples
    --------
    >>> final_answer("<think>Home - Ben? No.</think>home - Julia<|eot_id|>user: and now?").text
    'home - Julia'
    >>> final_answer("<think>Home - Ben? But that is").cut
    True
    >>> final_answer("weak&nbsp;&ndash; karen").text
    'weak\xa0– karen'
    """
    text = readable(text)
    if not any(sign in text for sign in _SIGNS):
        return Final(text, cut=False)
    # Twice, for exports that escape what is escaped already: ``&amp;nbsp;``.
    text = _ENTITY.sub(lambda entity: html.unescape(html.unescape(entity[0])), _unpack(text))
    answer, cut = _after_reasoning(_without_conversation(text))
    answer = _WRAPPING.sub("\n", _first_turn(_marked_answer(answer)))
    if "=" in answer and "<" in answer:
        answer = _ATTRIBUTES.sub(_attribute_values, answer)
    return Final(_without_crossed_out(_without_latex(answer)), cut)


#: Characters of an answer that are read, at most.
LONGEST = 200_000


def readable(text: str) -> str:
    """Return what is read of an answer: of one longer than `LONGEST`, the first and last half."""
    half = LONGEST // 2
    return text if len(text) <= LONGEST else f"{text[:half]}\n{text[-half:]}"


# Without one of these there is nothing to be left out or rewritten.
_SIGNS = (
    *"<[◁{&\\=|✓✔✅☑✗✘❌☒✖●◉•",
    "~~",
    "assistant",
    "analysis",
    "nking",
    "hought",
    "\nHuman",
    "\nUser",
    "\nuser",
    "\nInstruction",
)

_ENTITY = re.compile(r"(?:&amp;|&)(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")

# Reasoning ------------------------------------------------------------------------------------

_THOUGHT = r"(?:inner[ _-]?)?(?:think(?:ing)?|thoughts?)(?:[ _-]?process)?"
_RATIONALE = (
    r"reason(?:ing)?|reflections?|analysis|scratch[ _-]?pad|deliberation|monologue|rationale"
    r"|chain[ _-]of[ _-]thought|cot"
)
_MODEL = r"(?:[a-z]{2,10}[:_])?"  # seed:think, longcat_think


def _mark(before: str, names: str, after: str = "") -> str:
    """Write a mark in each kind of brackets."""
    inside = rf"{before}(?:{names}){after}"
    brackets = ((r"<\|?", r"\|?>"), (r"\[", r"\]"), ("◁", "▷"))
    return "|".join(f"{opening}{inside}{closing}" for opening, closing in brackets)


_BEGIN = rf"{_MODEL}(?:(?:begin|start)(?:[_ ]of)?[_ ])?"
_AFTER = r"(?:[_ ](?:start|begin|on))?(?:\s[^<>\n]{0,80})?"
_OPEN = re.compile(
    rf"(?P<sure>{_mark(_BEGIN, _THOUGHT, _AFTER)}|<(?:unused|ctrl)94>(?:thought)?"
    r"|<\|?channel\|?>\s{0,2}thought\b)"
    rf"|{_mark(_BEGIN, _RATIONALE, _AFTER)}|<details\s{{1,3}}type=.?reasoning[^<>]{{0,200}}>"
    r"|^\s{0,9}(?:here(?:'s| is) my thought process:|thinking\.\.\.(?=\s{0,2}\n))",
    re.IGNORECASE,
)
_ENDED = r"(?:end(?:[_ ]of)?[_ ])"
_CLOSE = re.compile(
    rf"(?P<sure>{_mark(f'/{_MODEL}', _THOUGHT)}|{_mark(_MODEL + _ENDED, _THOUGHT)}"
    rf"|{_mark(_MODEL, _THOUGHT, '[_ ](?:end|off)')}|<(?:unused|ctrl)95>|<channel\|>)"
    rf"|{_mark(f'/{_MODEL}', _RATIONALE)}|{_mark(_MODEL + _ENDED, _RATIONALE)}|</details>"
    r"|^\W{0,6}here(?:'s| is) my response:|^\W{0,4}\.\.\. ?done thinking\.?",
    re.IGNORECASE | re.MULTILINE,
)
# OpenAI's harmony format, with its tokens and where a server dropped them.
_CHANNEL = re.compile(
    r"<\|channel\|>\s{0,2}(?P<token>analysis|commentary|final)\b[^<\n]{0,80}(?:<\|message\|>)?"
    r"|\A\s{0,9}(?P<first>analysis)(?=[A-Z\"'(])"
    r"|assistant(?P<bare>analysis|commentary|final)(?:json)?"
)


def _after_reasoning(text: str) -> Final:
    """Return what follows the reasoning, or stands before it where nothing follows."""
    channels = list(_CHANNEL.finditer(text))
    finals = [channel for channel in channels if "final" in channel.group("token", "bare")]
    if finals:
        return Final(text[finals[-1].end() :], cut=False)
    if channels and not text[: channels[0].start()].strip(_BLANK):
        return Final("", cut=True)
    openings = list(_OPEN.finditer(text))
    closings = _closings(text, openings)
    end = closings[-1].end() if closings else 0
    unclosed = _unclosed(text, openings, end)
    # Reasoning that does not end leaves what stands before it, or nothing.
    if unclosed is not None and (before := text[end : unclosed.start()]).strip(_BLANK):
        return Final(before, cut=False)
    if unclosed is not None:
        return Final("", cut=True)
    if closings and openings and not _WRAPPING.sub("", text[end:]).strip(_BLANK):
        before = text[: openings[0].start()]  # nothing follows: what stands before is the answer
        return Final(before, cut=False)
    return Final(text[end:], cut=False)


def _closings(text: str, openings: list[re.Match[str]]) -> list[re.Match[str]]:
    """Find the marks that end reasoning; a doubtful one counts only after an opening mark."""
    first = openings[0].start() if openings else len(text)
    return [mark for mark in _CLOSE.finditer(text) if mark["sure"] or first < mark.start()]


def _unclosed(text: str, openings: list[re.Match[str]], end: int) -> re.Match[str] | None:
    """Return the first mark after `end`, the last closing mark, that begins reasoning."""
    for mark in openings:
        if mark.start() >= end and _begins_reasoning(mark, text, end):
            return mark
    return None


_BLANK = " \t\r\n*#_>`"


def _begins_reasoning(mark: re.Match[str], text: str, start: int) -> bool:
    """Whether a mark that no other closes begins reasoning, and is not a word of the answer."""
    return bool(mark["sure"]) or not _WRAPPING.sub("", text[start : mark.start()]).strip(_BLANK)


# Turns ----------------------------------------------------------------------------------------

_TURN = r"<\|?(?:start_of_turn|im_start|start_header_id|start|turn)\|?>\s{0,2}"
_PROMPT_ROLES = r"(?:user|human|system|tool|ipython)\b"
_END = re.compile(
    r"<\|?(?:eot_id|eom_id|eot|im_end|end_of_turn|endofturn|end_of_text|endoftext|turn_end|end_turn"
    r"|end_of_sentence|eos|return|call|END_OF_TURN_TOKEN)\|?>|<\|end\|>|</s>|<turn\|>"
    r"|\[(?:EOS|INST)\]|<｜end▁of▁sentence｜>|<｜User｜>"
    rf"|{_TURN}{_PROMPT_ROLES}|<\|(?:user|human|system|observation|USER_TOKEN|SYSTEM_TOKEN)\|>"
    r"|(?<=[a-z.!?\"'*)\]|}])assistant(?=:?\s{0,2}\n)"
    r"|\n\s{0,3}\n\s{0,3}(?:###\s?)?(?:Human|User|Instruction):",
    re.IGNORECASE,
)
_ASSISTANT = re.compile(
    rf"{_TURN}(?:assistant|model)(?:<\|?end_header_id\|?>)?|<\|assistant\|>|<｜Assistant｜>"
    r"|\[/INST\]|<\|CHATBOT_TOKEN\|>",
    re.IGNORECASE,
)
_PROMPT_TURN = re.compile(
    rf"\s*(?:<\|begin_of_text\|>|<s>|<bos>)?\s*(?:{_TURN}{_PROMPT_ROLES}|\[INST\])", re.IGNORECASE
)
_ATTRIBUTES = re.compile(
    r"<\w{1,20}((?:\s{1,3}(?:word|name|term|attribute|item|value|group|choice|text|key|label|id)="
    r"[\"'][^\"'<>\n]{1,80}[\"']){1,4})\s{0,2}(/?)>"
)
_VALUE = re.compile(r"=[\"']([^\"']{1,80})")
_WRAPPING = re.compile(
    rf"{_TURN}(?:assistant|model)?(?:<\|?end_header_id\|?>|<\|message\|>)?"
    r"|<\|(?:assistant|message|end_header_id|begin_of_text|begin_of_box|end_of_box|CHATBOT_TOKEN"
    r"|START_OF_TURN_TOKEN|(?:START|END)_(?:RESPONSE|TEXT)|(?:begin|end)_of_solution)\|>"
    r"|<s>|<bos>|<pad>|\[/INST\]|<｜begin▁of▁sentence｜>|<｜Assistant｜>"
    r"|</?(?:answer|response|output|final(?:[_ ]?(?:answer|response))?|solution|result)>",
    re.IGNORECASE,
)
_ANSWER = re.compile(r"<(answer|final_answer|response)>(.*?)</\1>", re.IGNORECASE | re.DOTALL)


def _without_conversation(text: str) -> str:
    """Leave out the conversation before the answer, where a text begins with another's turn."""
    if _PROMPT_TURN.match(text) and (answer := _ASSISTANT.search(text)):
        return text[answer.end() :]
    return text


def _first_turn(text: str) -> str:
    """Leave out what follows the end of the answer's turn."""
    for end in _END.finditer(text):
        if _WRAPPING.sub("", text[: end.start()]).strip(_BLANK):
            return text[: end.start()]
    user = text.find("\nuser\n")
    return text[:user] if user > 0 and text.find("\nassistant\n", user) > 0 else text


def _marked_answer(text: str) -> str:
    """Return what stands between the tags of the one answer, if there is one."""
    answers = list(_ANSWER.finditer(text)) if "</" in text else []
    return answers[0][2] if len(answers) == 1 and answers[0][2].strip() else text


def _attribute_values(tag: re.Match[str]) -> str:
    """Write the attributes of a tag before its content: ``<pair word="home">``."""
    values = " - ".join(_VALUE.findall(tag[1]))
    return f"\n{values}\n" if tag[2] else f"\n{values} - "


# Objects --------------------------------------------------------------------------------------

_PRINTED = re.compile(r"\s*\[?\s*(?:[A-Z]\w{2,40}\(|content=)")
_FIELD = re.compile(
    r"(?<![\w.])(?:content|text|generated_text|output_text)="
    r"('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")",
    re.DOTALL,
)
_LIST = re.compile(r"\s*[\[{]")


def _unpack(text: str) -> str:
    """Return the text in a printed completion or message; other texts as they are."""
    if _LIST.match(text) and (inside := _message_text(_literal(text))) is not None:
        return inside
    if _PRINTED.match(text) and (fields := _FIELD.findall(text)):
        values = [value for value in map(_literal, fields) if isinstance(value, str)]
        return "\n".join(values) or text
    return text


def _literal(text: str) -> Any:
    """Return the value of a JSON or Python literal; None if it is neither."""
    for parse in (json.loads, ast.literal_eval):
        try:
            return parse(text.strip())
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    return None


def _message_text(value: Any) -> str | None:
    """Return the text in an object of an interface; None if it is none."""
    if isinstance(value, list):
        texts = [text for text in map(_message_text, value) if text is not None]
        return "\n".join(texts) if value and len(texts) == len(value) else None
    if not isinstance(value, Mapping):
        return None
    if isinstance(choices := value.get("choices", value.get("candidates")), list) and choices:
        first = choices[0]
        if not isinstance(first, Mapping):
            return None
        return _message_text(first.get("message", first.get("content", first)))
    if isinstance(message := value.get("message"), Mapping):
        return _message_text(message)
    if "role" in value or value.get("type") in ("text", "output_text", "message"):
        return next(_content_texts(value), None)
    return value["generated_text"] if isinstance(value.get("generated_text"), str) else None


def _content_texts(message: Mapping[str, Any]) -> Iterator[str]:
    """Yield the texts of a message, by the names that interfaces give its content."""
    for name in ("content", "text", "parts"):
        content = message.get(name)
        if isinstance(content, str):
            yield content
        elif isinstance(content, list):
            yield "".join(part if isinstance(part, str) else _part_text(part) for part in content)


def _part_text(part: Any) -> str:
    """Return the text of a part of a message; that of reasoning is none."""
    text = part.get("text") if isinstance(part, Mapping) else None
    return text if isinstance(text, str) else ""


# LaTeX ----------------------------------------------------------------------------------------

_STYLED = re.compile(
    r"\\(?:text(?:bf|it|rm|tt|sf|sc)?|math(?:rm|bf|it|sf|tt)|emph|underline|mbox)\s{0,2}"
    r"\{([^{}]{0,2000})\}"
)
_BOXED = re.compile(r"\\(?:boxed|fbox)\s{0,2}\{([^{}]{0,2000})\}")
_ARROW = re.compile(r"\\(?:long|Long)?(?:right|Right)arrow\b|\\(?:to|implies|mapsto|mid|vert)\b")
_LAYOUT = re.compile(
    r"\\(?:begin|end)\{[a-z*]{1,20}\}(?:\{[lcr|]{1,20}\})?|\\(?:q?quad|hline|left|right|centering)\b"
    r"|\\[,;:! ()\[\]]|\$\$?"
)
_ESCAPED = re.compile(r"\\([-*_|.#>&%+\[\]()])")


def _without_latex(text: str) -> str:
    """Write LaTeX, and Markdown's escapes, as they are printed."""
    if "\\" not in text:
        return text
    if _STYLED.search(text) or _BOXED.search(text) or _ARROW.search(text) or "\\begin{" in text:
        for _ in range(3):  # styles may stand inside styles
            text = _STYLED.sub(r"\1", text)
        text = _BOXED.sub(r"\nAnswer: \1\n", text)
        text = text.replace("\\item", "\n- ").replace("\\\\", "\n")
        text = _LAYOUT.sub(" ", _ARROW.sub("→", text))
    return _ESCAPED.sub(r"\1", text)


# Check marks ----------------------------------------------------------------------------------

_CHECKS = "✓✔✅☑🗸"
_CROSSES = "✗✘❌☒✖🗙"
_CHECKED = re.compile(rf"^\W*(?:[{_CHECKS}]|\[?[xX]\]?)\W*$")
_UNCHECKED = re.compile(rf"^\W*(?:[{_CROSSES}☐□]|\[ \]|[-–—])?\W*$")
_STRUCK = re.compile(r"~~[^~\n]{1,200}~~")
_MARK = re.compile(f"([{_CHECKS}{_CROSSES}])\ufe0f?")


#: Boxes and buttons, marked and not, as they are typed.
_MARKED = re.compile(r"[\[(][xX•*✓✔][\])]|[●◉☑]")
_UNMARKED = re.compile(r"[\[(] ?[\])]|[○◯☐□]")
# Items of a list of tasks, where each line has a mark alone.
_ITEM = r"^[ \t]*(?:[-*+•][ \t]*)?"
_ALONE = rf"(?=[^\n●◉☑○◯☐□{_CHECKS}{_CROSSES}\[(]*$)"
_CHECKED_ITEM = re.compile(rf"{_ITEM}(?:\[[xX•*✓✔]\]|[●◉☑{_CHECKS}]){_ALONE}", re.MULTILINE)
_UNCHECKED_ITEM = re.compile(rf"{_ITEM}(?:\[ ?\]|[○◯☐□{_CROSSES}]){_ALONE}.*", re.MULTILINE)


def _without_crossed_out(text: str) -> str:
    """Leave out what is struck or crossed out; in tables, name the column of a check mark."""
    if "~~" in text:
        text = _STRUCK.sub(" ", text)
    if _CHECKED_ITEM.search(text) and _UNCHECKED_ITEM.search(text):
        text = _CHECKED_ITEM.sub("- ", _UNCHECKED_ITEM.sub("", text))
    if not (_MARK.search(text) or "|" in text or _MARKED.search(text)):
        return text
    lines = text.split("\n")
    heads: list[str] | None = None
    for number, line in enumerate(lines):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if "|" in line else []
        if len(cells) < 3:
            heads = None  # a line that is no row ends the table
            lines[number] = _without_crossed_pieces(line)
        elif heads is None:
            heads = cells
        elif len(cells) == len(heads):
            lines[number] = _name_checked_column(line, cells, heads)
    return "\n".join(lines)


def _name_checked_column(line: str, cells: list[str], heads: list[str]) -> str:
    """Put the head of its column in the place of a row's check mark, if it has one alone."""
    # The first cell is what the row is about, not a mark.
    checked = [column for column, cell in enumerate(cells) if column and _CHECKED.match(cell)]
    unchecked = [cell for column, cell in enumerate(cells) if column and column not in checked]
    if len(checked) != 1 or not all(_UNCHECKED.match(cell) for cell in unchecked):
        return line
    return f"| {cells[0]} | {heads[checked[0]]} |"


def _without_crossed_pieces(line: str) -> str:
    """Leave out what a cross, or an empty box, marks in a line that also has a check mark."""
    if _MARKED.search(line) and _UNMARKED.search(line):
        line = _UNMARKED.sub("✗", _MARKED.sub("✓", line))
    # The split alternates texts and marks: text, mark, text, …, text.
    pieces = _MARK.split(line)
    texts = pieces[0::2]
    marks = pieces[1::2]
    if not (set(marks) & set(_CHECKS) and set(marks) & set(_CROSSES)):
        return line
    if any(map(str.isalpha, texts[-1])):  # a mark stands before what it is about
        return " ".join([texts[0], *_checked_texts(texts[1:], marks)])
    head, colon, first = texts[0].rpartition(":")
    return f"{head}{colon} {' '.join(_checked_texts([first, *texts[1:-1]], marks))}"


def _checked_texts(texts: list[str], marks: list[str]) -> list[str]:
    return [text for text, mark in zip(texts, marks, strict=True) if mark in _CHECKS]
