"""From scores to numbers: means, tests, contrasts, regressions, agreement, compliance."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
