"""Results in the formats of others: collections of evaluations, model hubs, trackers of runs."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
