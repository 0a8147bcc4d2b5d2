"""What `inspect` finds through the entry point: the tasks and the embedded model's provider."""

from inspect_ai.model import modelapi

from tiltmeter.asking.tasks import (
    absolute_decision,
    affective_attribution,
    chained_task,
    relative_decision,
    word_association,
)
from tiltmeter.models.embedded.provider import tiltmeter_provider

__all__ = [
    "absolute_decision",
    "affective_attribution",
    "chained_task",
    "relative_decision",
    "tiltmeter",
    "word_association",
]

tiltmeter = modelapi(name="tiltmeter")(tiltmeter_provider)
