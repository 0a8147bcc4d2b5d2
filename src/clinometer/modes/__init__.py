"""Response modes: how a trial is asked, in how many calls, and how its closed answer is read.

Each mode is one file with a `MODE`; this module collects them.
"""

from importlib import import_module
from pkgutil import iter_modules

from clinometer.modes.mode import CHOICES, LIKELIHOODS, LOGITS, TEXT, Mode

__all__ = ["CHOICES", "LIKELIHOODS", "LOGITS", "MODES", "TEXT", "Mode"]

_modules = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
_modes: list[Mode] = [module.MODE for module in _modules if hasattr(module, "MODE")]

#: Every mode by name; the first is that of the papers.
MODES = {mode.name: mode for mode in sorted(_modes, key=lambda mode: mode.place)}
