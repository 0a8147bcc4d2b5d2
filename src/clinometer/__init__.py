"""Clinometer measures the implicit bias of language models.

The main path: `load_study` → `draw` → `ask` → `score` → `estimate`, or `audit` for all of it;
`read_results`, `compare` and `write_report` for what comes out. Each takes names, paths, polars and
pandas frames. The namespaces `asking`, `models`, `networks`, `states`, `statistics`, `papers`,
`comparing`, `reading`, `reference` and `sharing` hold the rest.

Names are imported when they are first used; ``__init__.pyi`` says where each stands.
"""

import lazy_loader

__version__ = "0.2.0.dev0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
