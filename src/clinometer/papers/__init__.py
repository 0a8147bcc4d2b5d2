"""What papers compute beside means: regressions of decisions, agreement with labels.

Its fits are those of statsmodels, which the extra ``papers`` installs.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
