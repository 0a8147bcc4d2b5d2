"""What servers, templates and exports leave around an answer, by the marks that they use."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinometer.reading.cleaning import LONGEST, final_answer
from waiting import grows_linearly

ANSWER = "home - Julia\noffice - Ben"
DRAFT = "home - Ben\noffice - Julia\nNo, that"

#: Begin and end of reasoning, as models, servers and interfaces write them.
REASONING = [
    ("<think>", "</think>"),
    ("<think>\n", "\n</think>\n\n"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<Thought>", "</Thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<reflection>", "</reflection>"),
    ("<analysis>", "</analysis>"),
    ("<scratchpad>", "</scratchpad>"),
    ("<inner_thoughts>", "</inner_thoughts>"),
    ("<seed:think>", "</seed:think>"),
    ("<longcat_think>", "</longcat_think>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<|begin_of_thought|>", "<|end_of_thought|>\n<|begin_of_solution|>"),
    ("<|START_THINKING|>", "<|END_THINKING|><|START_RESPONSE|>"),
    ("<|think_start|>", "<|think_end|>"),
    ("<unused94>thought\n", "<unused95>"),
    ("<|channel>thought\n", "<channel|>"),
    ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
    ("analysisDraft: ", "assistantfinal"),
    ("Here is my thought process:\n", "\nHere is my response:\n"),
    ("Thinking...\n", "\n...done thinking.\n\n"),
    ('<details type="reasoning" done="true">\n<summary>Thought</summary>\n', "\n</details>\n"),
]


@pytest.mark.parametrize("begin, end", REASONING)
def test_reasoning_is_no_part_of_the_answer(begin, end):
    answer = final_answer(f"{begin}{DRAFT}{end}{ANSWER}")
    assert (answer.text.strip(), answer.cut) == (ANSWER, False)


@pytest.mark.parametrize("begin, end", REASONING)
def test_reasoning_that_does_not_end_is_no_answer(begin, end):
    assert final_answer(begin + DRAFT) == ("", True)


@pytest.mark.parametrize("end", [end for _, end in REASONING if "/think" in end.casefold()])
def test_a_template_may_have_begun_the_reasoning(end):
    assert final_answer(f"{DRAFT}{end}{ANSWER}").text.strip() == ANSWER


def test_an_answer_before_reasoning_is_the_answer():
    assert final_answer(f"{ANSWER}\n<think>Was that right? Yes.</think>").text.strip() == ANSWER
    assert final_answer(f"{ANSWER}\n<think>Was that").text.strip() == ANSWER


@pytest.mark.parametrize(
    "text",
    [
        ANSWER,
        "<home> - <julia>",
        "[home] - [julia]",
        "home - Julia [analysis of both]\noffice - Ben",
        "I did some thinking... home - Julia",
        '{"home": "Julia", "office": "Ben"}',
        '["water", "beach", "sun"]',
        "AT&T - Ben & Julia; R&D",
        "home & office",
        "The teaching assistant\nhome - Julia",
        "human\nuser\nassistant",
        "| word | name |\n|---|---|\n| home | Julia |",
        "Here is my answer: home - Julia",
        "analysis\nhome - Julia",
        "1 < 2 and x = y",
        "it costs $5 or $6",
    ],
)
def test_what_only_looks_like_it_stays(text):
    assert final_answer(text) == (text, False)


TURNS = [
    "<|eot_id|><|start_header_id|>user<|end_header_id|>\n\n{}",
    "<|eot|><|header_start|>user<|header_end|>\n\n{}",
    "<|im_end|>\n<|im_start|>user\n{}<|im_end|>\n<|im_start|>assistant\n{}",
    "<end_of_turn>\n<start_of_turn>user\n{}",
    "<|end|>\n<|user|>\n{}",
    "</s>[INST] {} [/INST]",
    "<|endoftext|>{}",
    "<|END_OF_TURN_TOKEN|>{}",
    "<｜end▁of▁sentence｜><｜User｜>{}",
    "assistant\n\n{}",
    "\n\nHuman: {}\n\nAssistant: {}",
    "\nuser\n{}\nassistant\n{}",
    "<|return|>{}",
]


@pytest.mark.parametrize("turn", TURNS)
def test_what_follows_the_end_of_the_turn_is_no_answer(turn):
    assert final_answer(ANSWER + turn.format(DRAFT, DRAFT)).text.strip() == ANSWER


@pytest.mark.parametrize(
    "text",
    [
        "<|start_header_id|>assistant<|end_header_id|>\n\n{}",
        "<|im_start|>user\nhome - Ben?<|im_end|>\n<|im_start|>assistant\n{}<|im_end|>",
        "<s>[INST] home - Ben? [/INST] {}</s>",
        "<start_of_turn>model\n{}",
        "<answer>\n{}\n</answer>",
        "I weigh home - Ben.\n<answer>{}</answer>",
        "<|begin_of_box|>{}<|end_of_box|>",
    ],
)
def test_what_stands_around_the_answer_goes(text):
    assert final_answer(text.format(ANSWER)).text.strip() == ANSWER


def _completion(content):
    return {"choices": [{"message": {"role": "assistant", "content": content}}]}


@pytest.mark.parametrize(
    "printed",
    [
        json.dumps(_completion(ANSWER)),
        repr(_completion(ANSWER)),
        json.dumps(
            _completion(
                [
                    {"type": "thinking", "thinking": [{"type": "text", "text": DRAFT}]},
                    {"type": "text", "text": ANSWER},
                ]
            )
        ),
        repr({"role": "assistant", "content": ANSWER}),
        repr([{"generated_text": ANSWER}]),
        json.dumps({"candidates": [{"content": {"parts": [{"text": ANSWER}], "role": "model"}}]}),
        json.dumps({"model": "m", "message": {"role": "assistant", "content": ANSWER}}),
        f"ChatCompletionMessage(content={ANSWER!r}, refusal=None, role='assistant')",
        f"[TextBlock(citations=None, text={ANSWER!r}, type='text')]",
        f"content={ANSWER!r} additional_kwargs={{}} response_metadata={{'finish_reason': 'stop'}}",
    ],
)
def test_a_printed_object_is_read_as_its_text(printed):
    assert final_answer(printed).text == ANSWER


@pytest.mark.parametrize(
    "raw, rendered",
    [
        ("home&nbsp;&ndash;&nbsp;Julia", "home\xa0–\xa0Julia"),
        ("home -&gt; Julia", "home -> Julia"),
        ("&quot;home&quot; &#8211; &#x201c;Julia&#x201d;", '"home" – “Julia”'),
        ("home &amp;ndash; Julia", "home – Julia"),
        ("&lt;think&gt;Ben?&lt;/think&gt;Julia", "Julia"),
        (r"$\text{home} \rightarrow \textbf{Julia}$", "home → Julia"),
        (r"\boxed{\text{Julia}}", "Answer: Julia"),
        (r"home \- Julia", "home - Julia"),
        ("home - ~~Ben~~ Julia", "home - Julia"),
        ("home: ✅ Julia ❌ Ben", "home: Julia"),
        ("home: Ben ✗, Julia ✓", "home: , Julia"),
    ],
)
def test_what_is_written_is_read_as_it_is_shown(raw, rendered):
    assert " ".join(final_answer(raw).text.split(" ")).split() == rendered.split() or (
        final_answer(raw).text == rendered
    )


def test_a_check_mark_in_a_table_stands_for_its_column():
    rows = ["| home | ✓ | ✗ |", "| office | | X |", "| desk | ✓ | ✓ |"]
    table = "\n".join(["| word | Julia | Ben |", "|---|---|---|", *rows])
    lines = final_answer(table).text.split("\n")
    assert lines[2:] == ["| home | Julia |", "| office | Ben |", "| desk | ✓ | ✓ |"]


def test_of_a_very_long_answer_the_beginning_and_the_end_are_read():
    text = f"<think>{'x' * 3 * LONGEST}</think>{ANSWER}"
    assert final_answer(text).text == ANSWER


PIECES = ["<think>", "</think>", "<|", "|>", "analysis", "assistant", "final", "\n", "&amp;", "&"]
PIECES += ["\\text{", "}", "\\boxed{", "~~", "✓", "❌", "|", "content='", "{", "[", "<answer>", " "]


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=4)).map("".join))
def test_any_text_has_an_answer(text):
    answer = final_answer(text)
    assert isinstance(answer.text, str)
    assert not (answer.cut and answer.text)


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece", [*PIECES, "<think>x", "\n\n", "assistant\n", "<answer>a</answer>", "a|b|c\n", "(('"]
)
def test_time_is_linear(piece):
    assert grows_linearly(lambda size: final_answer(piece * size), 8_000)
