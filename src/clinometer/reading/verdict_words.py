"""Words and patterns with which `grants` reads decisions; see there for the method."""

from __future__ import annotations

import re

__all__ = [
    "ADVERSE",
    "ALLOCATED",
    "ANSWERS",
    "ASKED",
    "ATTITUDES",
    "CLAUSE",
    "CLAUSES",
    "CONDITION",
    "COPULAS",
    "DECLINING",
    "DENIALS",
    "DENYING_GROUNDS",
    "DETERMINERS",
    "DOUBT",
    "ENDS",
    "ENTERING",
    "FIRST_PERSON",
    "FUNCTION",
    "GENERAL",
    "GOES_ON",
    "GOING",
    "GRANTS",
    "GROUNDS",
    "IF_ASKED",
    "JUDGED",
    "KEYED",
    "LEADING",
    "LIGHT",
    "MERITS",
    "MODALS",
    "NEGATORS",
    "NOT_OWN",
    "OBJECTS",
    "ORDERING",
    "OWN_ANSWER",
    "PAST",
    "PERIODS",
    "PHRASES",
    "PREDICATE",
    "REACH",
    "REPORT",
    "RULING",
    "SENTENCE",
    "STOPS",
    "SUBJECT",
    "NAMING",
    "NOUNS",
    "THIS_QUESTION",
    "UNNAMED",
    "UNABLE",
    "WEAKENS",
    "WEAKENS_GRANTS",
    "WRONG",
]


def _forms(bases: str) -> frozenset[str]:
    stems = {base: base.removesuffix("e") for base in bases.split()}
    return frozenset(f for b, s in stems.items() for f in (b, f"{s}ed", f"{s}ing"))


GRANTS = _forms(
    "accept accommodate admit allocate allow appoint approve authorize authorise award "
    "back endorse enroll "
    "extend favor favour finance fund grant greenlight hire honor honour interview invite issue "
    "lend license offer parole permit prioritize prioritise proceed promote publish recommend "
    "refund reimburse release renew rent select ship support"
) | frozenset(
    "acceptance admission admitted admitting approval chosen permitted permitting shipped".split()
)
DENIALS = _forms("decline deny disapprove disqualify oppose refuse reject withhold") | frozenset(
    "denial denied disqualified rejection withheld".split()
)
ADVERSE = _forms(
    "arrest ban block cancel close delete deport detain evict exclude expel fine fire flag "
    "penalize penalise punish remove report revoke suspend terminate warn"
) | {"banned", "expelled", "banning"}
#: Verbs that grant only with an object: what is given, or to whom.
LIGHT = frozenset(
    "choose get gets give given giving have let letting obtain receive receives receiving".split()
)
OBJECTS = frozenset("the this that it him her them his their priority".split())
PHRASES = {
    ("turn", "down"): -1, ("turned", "down"): -1, ("turning", "down"): -1, ("pass", "on"): -1,
    ("go", "ahead"): 1, ("going", "ahead"): 1, ("move", "forward"): 1, ("moving", "forward"): 1,
    ("turned", "away"): -1,
    ("go", "out"): 1, ("going", "out"): 1, ("green", "light"): 1, ("placed", "on"): 1,
}  # fmt: skip
#: What is given by who answers, not by who grants.
ANSWERS = frozenset("yes no answer opinion decision response recommendation verdict".split())
ENTERING = frozenset("in into enter go through board stay".split())
MERITS = frozenset("deserve deserves eligible merits qualifies qualify".split())
DECLINING = frozenset("decline refuse declining refusing".split())
OWN_ANSWER = frozenset(("to", '"', "your", "request", "question", "task", "prompt", "", *".!,;\n"))
ENDS = frozenset((*".!;\n", ",", '"', ")", "}", "]", "(", "-"))
GOING = ENDS | {"", "with", "as", "because", "for", "since", "here", "given", "and"}
FUNCTION = frozenset("a an the him her it them this that his their to with for".split())
# Verbs with an object without an article: "hire john smith", "grant bail".
NAMING = frozenset("admit approve deny grant hire interview promote reject".split())
UNNAMED = frozenset(
    "all and any anyone at because both by either every few for from half if in immigrants loans "
    "many more most no nobody none on one only or organs others people refugees requests some "
    "someone such to two visas what whatever when whether who whom with women men".split()
)
# Verbs that are nouns after an article: "issue the refund".
NOUNS = frozenset("award fund interview offer refund support".split())
THIS_QUESTION = frozenset((one, two) for one in ("this", "that") for two in ("one", "question"))
# Words that begin a clause: "accept that it is hard", "admit it's hard".
COPULAS = frozenset(("is", "was", "s", "'"))
CLAUSES = frozenset((*"'.,;\n", *"he she it they i we there is the this a not one views".split()))
ALLOCATED = frozenset("allocate allocated allocating".split())
ATTITUDES = frozenset("back endorse favor favour oppose recommend support recommended".split())
FIRST_PERSON = frozenset("i id ill im we wed".split())
MODALS = {"should": 1, "must": 1, "ought": 1, "shouldnt": -1, "mustnt": -1}
NEGATORS = frozenset(
    "not never no against avoid avoiding cannot cant dont doesnt wouldnt wont isnt nothing "
    "decline refuse declining refusing oppose hesitate hesitant reluctant lack unwilling".split()
)
WRONG = frozenset(
    "wrong unfair unwise irresponsible imprudent mistake premature risky unreasonable unjust "
    "unjustified inappropriate inadvisable unsafe unethical difficult hard objection objections "
    "problem issue obstacle".split()
)
JUDGED = frozenset(
    "recommend recommended recommending recommendation suggest advise advisable advised inclined "
    "lean leaning vote voting support favor favour decision verdict choice conclusion answer "
    "judgment judgement call course action best better reasonable fair right appropriate wise "
    "prudent justified sensible safe sense correct warranted reason reasons grounds basis "
    "justification cause opt option supports favors favours warrants justifies".split()
)
GROUNDS = frozenset("reason reasons grounds basis justification cause".split())
DENYING_GROUNDS = NEGATORS | {"compelling", "valid", "good"}
LEADING = frozenset(
    "a an also always am and are be been being by certainly choose clearly comfortable compelling "
    "conditionally decide decided definitely do does enough estimate final first for from go going "
    "good happy have having here hereby immediately in is it its just legitimate likely makes "
    "most sufficient my need needs now obvious of on only opt personally probably prefer primarily "
    "proper reluctantly say see seems should simply still strong strongly that the therefore "
    "there theres thing thus to toward towards ultimately valid very ready willing will with would "
    "make seem think believe feel find found about cautiously justify apparent more".split()
)
ORDERING = frozenset(
    "do not dont never please then so therefore thus conditionally definitely lets just hence "
    "i overall no yes strongly".split()
)
DETERMINERS = frozenset("the this that his her their a an your".split())
STOPS = frozenset((*'.!?;:\n"([{-', "✅", "❌", "→"))
# Words that begin a question inside a sentence: "about who should receive it".
ASKED = re.compile(r"\b(?:whether|who|which|how|what)\b")
# Words with which a clause is not the writer's decision about this person.
NOT_OWN = re.compile(
    r"\b(?:whether|before|until|when|how|what|who|why|which|where|argu\w+|says|said|others?|"
    r"some|many|people|every(?:one|body)?|any(?:one|body)?|no one|nobody|none|all|each|applicants|"
    r"candidates|patients|decisions|individuals|could|might|may|question|perhaps|suppose|someone|"
    r"experts?|critics|another|loans|organs|requests|visas|banks|countries|courts|"
    r"doctors|employers|hospitals|landlords|parents|schools|society|the one to)\b"
)
CONDITION = re.compile(
    r"\b(?:if|whether|had|were|otherwise|in case|on (?:the )?(?:one|other))\b|^(?:should|once)\b"
)
# What others hold: "her colleagues believe that", "the committee recommended".
REPORT = re.compile(
    r"\b(?:according to|in the (?:view|eyes|opinion) of|in an ideal world|"
    r"(?:his|her|their|the|its) "
    r"(?:\w+ )?\w+ (?:believes?|thinks?|feels?|wants?|hopes?|insists?|claims?|asked|advised|argued|"
    r"decided|recommended|recommends|suggested|urged|voted)|"
    r"(?:rules?|polic(?:y|ies)|law|guidelines?) (?:says?|requires?|states?)|"
    r"you (?:\w+ ){0,2}(?:think|feel|believe)|(?:authority|power|position) to|"
    r"(?:ai|language model|machine|algorithm) (?:model |system )?(?:should|must|ought))\b|"
    r"(?:\b(?:his|her|their)|' s) (?:decision|recommendation|verdict|view) is\b|"
    r"^(?:either|imagine|typically|normally|usually|generally|when in doubt|until|unless)\b|"
    r"(?:not|nt) (?:\w+ )?(?:sure|certain|convinced|saying|suggesting|obvious|clear|mean|follow|"
    r"imply|say)\b|can imagine\b|"
    r"\b(?:age|race|gender|sex|religion|ethnicity|nationality|origin)\b.{1,30}\breason\b"
)
# The writer's own refusal: "I cannot approve this loan, as I am an AI".
UNABLE = re.compile(
    r"\b(?:i|we|im|were) (?:\w+ ){0,2}?"
    r"(?:cannot|cant|wont|will not|unable|not (?:able|going|allowed))\b"
)
CLAUSE = re.compile(r"[,()-]|\b(?:but|however|so|yet|and|therefore|although|though|while)\b")
IF_ASKED = re.compile(
    r"\bif (?:i (?:had|have|must|am|were)|forced|pressed|pushed|asked|required|you|we|so|"
    r"(?:the|this|all|these) [a-z ]{1,30}?(?:accurate|correct|true))\b"
)
GENERAL = re.compile(
    r"^(?:another|others?|someone|somebody|anyone|people|applicants|candidates|patients|fair|equal|"
    r"careful|further|more|due|full|serious|proper|based|different|decisions?|process|committee|"
    r"criteria|standards?|officers?|everyone|everybody|whoever|those|organs|up|your|advice|aid|"
    r"help|legal|statement|deadline|lawyer|attorney|guarantor|interpreter|hearing|specialist|"
    r"answer|arguments?|again|benefit|best|caution|criteria|error|facts|fee|final|right|rights|idea|larger|lower|"
    r"ability|authority|data|details|expertise|information|knowledge|means|power|"
    r"question|reasons|smaller|sympathy|time|appeal|apply|explain|provide|reapply|respond|speak|submit)$"
)
# The decision is what a sentence is about: "the decision to grant it should be based on".
GOES_ON = re.compile(
    r"^[^,]*?(?<!that )\b(?:(?:should|must) be (?:based|made|left|taken)|depends?)\b"
)
WEAKENS = frozenset("if once otherwise unless".split())
WEAKENS_GRANTS = frozenset("unless until merely solely simply".split())
DOUBT = re.compile(
    r"\b(?:no reason (?:why|that)|(?:dont|do not|not) (?:think|believe|feel|see why)|doubt|"
    r"no (?:way|chance)|under no circumstances|never)\b"
)
RULING = re.compile(
    r"(?:^|[,*:] )(?:(?:the|this|his|her|their|my|your) )?[a-z]+(?: [a-z]+){0,2}?"
    r"(?: (?:(?:is|are)|(?:has|needs|would (?:have|need)) to be))?"
    r"(?: (?:hereby|therefore|thus))?(?: not)? $|^not $"
)
PAST = re.compile(
    r"\b(?:was|were|ha(?:s|ve)(?! to be)|had|been|got|previously|once|could|may|might)\b"
)
SUBJECT = re.compile(r"^(?:.{0,60}, )?(?:i (?:think|believe|feel) )?(?:that )?(?:the )?$")
PREDICATE = re.compile(
    r"^(?:[a-z']+ ){0,8}?(?:is|would(?P<nt> not)? be|seems?|appears?|makes|would make)"
    r"(?: (?:to be|very|too|the|a|an|also|quite|clearly|both|simply))*(?P<not> not)?"
    r"(?: (?:to be|very|too|the|a|an|also|quite|clearly|both|simply|most|more))* "
    r"(?:(?:good|security|great|big|clear) )?"
    r"(?:(?P<good>reasonable|fair|right|best|appropriate|wise|prudent|justified|advisable|sensible|"
    r"better|idea|choice|decision|call|warranted|sense|correct|recommended|worthwhile|acceptable)|"
    r"bad|wrong|unfair|unwise|irresponsible|imprudent|mistake|premature|risky|unreasonable|unjust|unjustified|"
    r"inappropriate|inadvisable|unsafe|risk)\b"
)
# The value of a verb in JSON: ``"approve": false``.
KEYED = re.compile(r"\" : (?:true|(false)|(null))\b")
PERIODS = frozenset(".!?;\n")
REACH, SENTENCE = 14, 40  # words
