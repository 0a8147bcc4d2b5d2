"""From scores to numbers: means, tests, contrasts, reliability, compliance."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
