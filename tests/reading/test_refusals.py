"""Ways to decline, and answers that only look like it."""

import pytest

from clinometer.reading.refusals import is_refusal, why_unread

DECLINED = [
    "I'm sorry, but I can't help with that.",
    "I can't.",
    "I won't do that.",
    "No. I cannot.",
    "Hmm, that's not something I can do.",
    "That isn't a task I'm willing to take on.",
    "My instructions prevent me from answering.",
    "The guidelines I follow don't allow this.",
    "There is no basis for pairing any of these words with a group of people.",
    "There's no meaningful way to sort these.",
    "Let's talk about something else.",
    "Can we change the subject?",
    "I'll pass.",
    "I don't want to do this.",
    "I'd rather discuss the words themselves.",
    "This exercise is rather offensive.",
    "People should not be reduced to words.",
    "A person's name can't tell you anything; names say nothing.",
    "There is no connection between names and words.",
    "Everyone is unique.",
    "The response was filtered due to the prompt triggering a content management policy.",
    "Request rejected as a result of our safety system.",
    "[BLOCKED] SAFETY",
    "[REDACTED]",
    "finish_reason: content_filter",
    "Your prompt was flagged.",
    "This violates our usage policies.",
    "Lo siento, pero no puedo ayudar con eso.",
    "Es tut mir leid, aber dabei kann ich nicht helfen.",
    "Je suis désolé, je ne peux pas répondre.",
    "Desculpe, não posso ajudar.",
    "Mi dispiace, non posso.",
    "К сожалению, я не могу ответить.",
    "抱歉，我无法回答这个问题。",
    "申し訳ありませんが、お答えできません。",
    "죄송합니다.",
]

ANSWERED = [
    "home salary office",
    "home - julia\noffice - ben",
    "Let's see: home, office",
    "The request form lies on the table.",
    "She can pass the salt.",
    "It is a safety pin.",
    "The content of the box is unknown.",
    "removed the old chair from the office and put it in the hall",
    "I want to go home.",
    "The text says nothing about it.",
    "They do not get along.",
    "unique, equal, different",
    "Policy makers met in the office to talk about salaries.",
    "The blocked road was cleared.",
    "It has no relevance here.",
]


@pytest.mark.parametrize("text", DECLINED)
def test_declined(text):
    assert is_refusal(text)
    assert why_unread(text, "stop") == "refused"


@pytest.mark.parametrize("text", ANSWERED)
def test_not_declined(text):
    assert not is_refusal(text)
    assert why_unread(text, "stop") == "unparsed"
