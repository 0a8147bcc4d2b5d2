"""What `inspect` finds through the entry point: the tasks and the embedded model's provider."""

from inspect_ai.model import modelapi

from tiltmeter.asking.tasks import task_of
from tiltmeter.instruments.catalogue import INSTRUMENTS
from tiltmeter.models.embedded.provider import tiltmeter_provider

__all__ = ["TASKS", "tiltmeter"]

#: The inspect task of each instrument.
TASKS = {name: task_of(instrument) for name, instrument in INSTRUMENTS.items()}

tiltmeter = modelapi(name="tiltmeter")(tiltmeter_provider)
