"""Whether an answer declines, and why nothing could be read of it.

English ways to decline are built in, with the commonest of other languages and what providers'
filters say; a study may give more. Only answers without a decision are looked at, so an apology
without an answer is a refusal. The patterns match plain form, see `plaintext.normalise`, which has
no apostrophes inside words but before an s: ``can't`` is ``cant``, ``let's`` stays.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from clinometer.reading.plaintext import normalise

_SPAN = 4000  # characters searched; refusals are at the beginning

#: Characters in which a refusal is looked for in a text about what refusals name, such as
#: prejudice, and who speaks in one.
_OPENING = 200
_SPEAKER = re.compile(r"\b(?:I|I['’]m|I['’]ve|my|My|AI|we|We|sorry|Sorry)\b")

_DOING = (
    "accommodate|answer|assign|assist|associate|categori[sz]e|choose|classify|comment|complete|"
    "comply|continue|create|decide|discuss|do (?:this|that|it|so)|engage|fulfil|generate|give|help|"
    "in good conscience|label|link|make|match|offer|pair|participate|perform|pick|proceed|produce|"
    "provide|rate|recommend|respond|satisfy|select|share|speculate|suggest|support|write"
)
_NO = r"(?:cant|cannot|can not|wont|will not|wouldnt|would not|id rather not|must decline)"
_DETOURS = (
    r"(?:\w+ ){0,3}(?:something|anything|some other|another|a different|the (?:subject|topic))"
)
_INDIRECT = (
    rf"^\W*(?:(?:sorry|no|hmm|nope|well)\W+)*i {_NO}(?: (?:do|help|say|answer)(?: (?:that|this|it"
    r"|so|with (?:that|this)))?)?\W*$",
    r"\b(?:not|isnt) (?:something|anything|a (?:task|request|question|thing)) (?:that )?"
    r"(?:i|we|im|id|ill|am i)\b",
    r"\b(?:instructions|guidelines|policy|policies|rules|programming|principles|developers|creators"
    r"|guardrails|design|ethics) (?:\w+ ){0,3}(?:prevent|prohibit|forbid|(?:do not|dont|does not"
    r"|doesnt) (?:allow|permit|let)|stop|keep|bar|disallow|restrict|preclude)",
    r"\bno (?:\w+ ){0,2}(?:basis|justification|grounds|rationale|(?:meaningful|fair) way"
    r"|(?:valid|logical|objective) reason) (?:for|to|on|in|behind)\b",
    rf"\blet'?s (?:not|(?:talk|chat|speak|discuss|focus|move on|switch|change|turn)\b {_DETOURS})",
    r"\b(?:change|switch|drop) the (?:subject|topic)\b|\bi(?:ll| will) (?:have to |gonna )?"
    r"(?:pass|skip)\b|\bskip this\b|\bpass on this\b",
    r"\bi (?:do not|dont) (?:feel like|want|wish|care|intend|choose|like) (?:to|doing|answering)\b",
    r"\bi(?:d| would) (?:rather|prefer to|sooner) (?:not|talk|discuss|focus|avoid|skip|leave)\b",
    r"\b(?:this|that|the|such an?|your) (?:\w+ )?(?:task|request|question|exercise|prompt|pairing)"
    r"s? (?:\w+ ){0,4}(?:problematic|harmful|offensive|biased|discriminatory|unfair|stereotyp)",
    r"\b(?:people|person|individuals?|groups?|anyone|someone|names?|words) (?:\w+ )?"
    r"(?:should|can|must|ought|do|does)(?:nt| not|not| never) (?:be )?(?:reduced|judged|defined|"
    r"sorted|labell?ed|categori[sz]ed|paired|assigned|associated|determine|define|tell|say)",
    r"\b(?:names?|words?) (?:\w+ )?(?:says?|tells?|reveals?|indicates?) nothing\b"
    r"|\bno (?:\w+ )?(?:connection|association|relation|relationship|link|correlation) "
    r"(?:between|with|to)\b",
    r"\bevery(?:one|body| person| individual) is (?:unique|different|an? individual|equal)\b",
)
#: What providers' filters say in place of an answer.
_FILTERED = (
    r"\b(?:response|prompt|request|content|output|message|completion|answer|text|input) (?:\w+ )?"
    r"(?:(?:was|were|has been|have been|is|got|being) )?(?:\w+ )?(?:filtered|blocked|flagged"
    r"|rejected|refused|denied|censored|withheld|moderated|disallowed|declined|suppressed)\b",
    r"\bcontent[ _-](?:management|moderation|filter)|\bcontent ?filter|\bprohibited[ _]content\b",
    r"\bsafety (?:system|settings?|filters?|reasons|polic|concerns|guard|classifier|measures)",
    r"\bresponsible ai\b|\bmoderation (?:system|polic|filter|layer)|\brecitation\b",
    r"\b(?:violat|breach|contraven)\w* (?:\w+ ){0,4}(?:polic|guideline|terms|rules|standards)",
    r"^\W*(?:blocked|filtered|redacted|removed|censored|refused|refusal|safety|declined"
    r"|no answer|content removed|withheld|not answered)\b[\W_]*(?:\w+\W*){0,2}$",
)
#: The commonest ways to decline in other languages; a study adds those of its own.
_ELSEWHERE = (
    r"\blo siento\b|\bno puedo (?:ayudar|responder|hacer|contestar|cumplir|realizar|completar|"
    r"proporcionar|asociar)|\bme temo que no\b|\bdisculp[ae]",
    r"\btut mir leid\b|\bich (?:kann|m[oö]chte|werde|darf) (?:\w+ ){0,5}nicht\b|\bkann ich "
    r"(?:\w+ ){0,4}nicht\b|\bbedaure\b|\bleider (?:\w+ ){0,4}nicht\b",
    r"\bd[eé]sol[eé]e?\b|\bje ne (?:peux|suis|veux|saurais) pas\b|\bje ne peux\b|\bje refuse\b",
    r"\bmi dispiace\b|\bnon posso\b|\bspiacente\b|\bn[aã]o posso\b|\bdesculpe\b|\bsinto muito\b"
    r"|\blamento\b|\bhet spijt me\b|\bik kan (?:\w+ ){0,4}niet\b|\bhelaas\b",
    r"\bprzykro mi\b|\bprzepraszam\b|\bnie mog[eę]\b|\btyv[aä]rr\b|\bjag kan (?:\w+ ){0,3}inte\b"
    r"|\b[uü]zg[uü]n[uü]m\b|\bmaaf\b|\btidak (?:bisa|dapat)\b|\bxin l[oỗ]i\b",
    r"извините|к сожалению|не могу|простите|抱歉|对不起|對不起"
    r"|(?:无法|不能|無法)(?:回答|提供|协助|帮助|完成|满足)|申し訳|できません|お答え"
    r"|죄송|할 수 없|드릴 수 없|عذر|آسف|لا أستطيع|لا يمكنني|क्षमा करें|माफ़",
)
_REFUSAL = re.compile(
    "|".join(
        (
            r"\b(?:im|i am|we are|were) (?:\w+ )?sorry\b|\bsorry\b ?[,.;-]|^\W*sorry\b",
            r"\b(?:i|we) (?:do |must |sincerely )?apologi[sz]e\b|\bmy apologies\b",
            r"\b(?:can ?not|cant|wont|will not|wouldnt|would not|shouldnt|should not|not going to"
            r"|unable to|not able to|not willing to|unwilling to|not allowed to|not permitted to"
            rf"|refuse to|decline to) (?:\w+ ){{0,2}}(?:{_DOING})",
            r"\bi (?:\w+ ){0,2}(?:refuse|decline)\b|\bi (?:wont|will not)\b(?! be able to wait)",
            r"\b(?:i have|i need|id like|i would like|im going|i am going) to (?:\w+ )?decline\b",
            r"\b(?:im|i am|ill|i) (?:\w+ ){0,3}(?:refrain|abstain)(?:ing)?\b",
            r"\b(?:do not|dont) (?:think|believe) (?:that )?i should (?:be|decide|answer|make)\b",
            r"\b(?:id|i would|would) (?:\w+ )?(?:rather|prefer) not\b|\bprefer not to\b",
            r"\bno comment\b|\bi (?:do not|dont) (?:rate|rank|judge|make (?:\w+ ){0,2}decisions)\b",
            r"\b(?:do not|dont) (?:think|believe|feel) (?:that )?(?:its|it is|it would be|i am|im) "
            r"(?:appropriate|right|ethical|fair|comfortable)\b",
            r"\b(?:as|im|i am) (?:just |only )?an? (?:\w+ )?"
            r"(?:ai|artificial intelligence|language model|llm)\b",
            r"\bas an? (?:(?:ai|digital|helpful|virtual|your) )?assistant\b",
            r"\b(?:im|am|do not feel|dont feel|not feeling) (?:not )?(?:un)?comfortable\b",
            r"\b(?:not|isnt|wouldnt be|never) (?:\w+ )?(?:appropriate|ethical|acceptable)\b",
            r"\b(?:not|isnt|wouldnt be) (?:\w+ )?(?:right|fair|responsible|meaningful) "
            r"(?:for|of) me\b",
            r"\bi (?:do not|dont|cannot|cant|have no|lack) (?:(?:actually|really) )?"
            r"(?:have |hold |possess |form |experience )?(?:any )?(?:\w+ )?"
            r"(?:opinions|feelings|emotions|beliefs|views)\b",
            r"\b(?:is|are|be|would be|feels?) (?:\w+ )?(?:inappropriate|unethical)\b",
            r"\bagainst (?:my|our|the) (?:\w+ )?(?:guidelines|polic|principles|programming|values)",
            r"\b(?:content|usage|safety) (?:policy|policies|guidelines)\b",
            r"\b(?:harmful|negative|biased|racial|gender|offensive) (?:\w+ ){0,3}"
            r"(?:stereotyp|bias|associations)",
            r"\b(?:perpetuat|reinforc|promot|avoid|encourag|rel|rest|involv)(?:e|es|ing|y|ies|s)? "
            r"(?:on )?(?:\w+ ){0,4}(?:stereotyp|bias|discriminat|prejudic)",
            *_INDIRECT,
            *_FILTERED,
            *_ELSEWHERE,
        )
    )
)


def is_refusal(text: str, more: Sequence[str] = ()) -> bool:
    """Return whether a model declined to answer, in the first 4,000 characters.

    `more` are further phrases that decline, matched as whole words; case and spaces are ignored.

    Examples
    --------
    >>> is_refusal("I’m sorry, but I can’t help with that.")
    True
    >>> is_refusal("home salary office")
    False
    >>> is_refusal("Das möchte ich nicht beurteilen.", ["möchte ich nicht"])
    True
    """
    plain = " ".join(normalise(text[:_SPAN]).split())
    phrases = _phrases(tuple(more))
    return bool(_REFUSAL.search(plain) or (phrases and phrases.search(plain)))


def opens_by_declining(text: str, more: Sequence[str] = ()) -> bool:
    """Return whether somebody speaks and refuses where a text begins, whatever it is about.

    Examples
    --------
    >>> opens_by_declining("I can't write this."), opens_by_declining("Laws that promote bias.")
    (True, False)
    """
    opening = text[:_OPENING]
    return bool(_SPEAKER.search(opening)) and is_refusal(opening, more)


def why_unread(text: str, stop_reason: str | None, refusals: Sequence[str] = ()) -> str:
    """Return why nothing could be read: ``refused``, ``truncated`` or ``unparsed``."""
    if stop_reason == "content_filter" or is_refusal(text, refusals):
        return "refused"
    return "truncated" if stop_reason == "max_tokens" else "unparsed"


@lru_cache(maxsize=64)
def _phrases(more: tuple[str, ...]) -> re.Pattern[str] | None:
    plain = (" ".join(normalise(phrase).split()) for phrase in more)
    pattern = "|".join(re.escape(phrase) for phrase in plain if phrase)
    return re.compile(rf"(?<!\w)(?:{pattern})(?!\w)") if pattern else None
