"""What sections of a page are made of: prose, tables, figures, and the results that they see."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
