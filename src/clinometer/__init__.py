"""Clinometer measures the implicit bias of language models.

The main path: `load_study` → `draw` → `ask` → `score` → `estimate`, or `audit` for all of it;
`read_results`, `findings`, `compare` and `write_report` for what comes out. Each takes names,
paths, polars and pandas frames. The namespaces `asking`, `models`, `networks`, `states`,
`statistics`, `papers`, `comparing`, `reading`, `reference` and `sharing` hold the rest.

Names are imported when they are first used; ``__init__.pyi`` says where each stands.
"""

import os

import lazy_loader

# What torch reads once, when it is imported and when it first multiplies, in whatever room that is.
# Threads that wait must not spin: where another program wants the same cores, spinning makes a
# forward pass fifty times slower.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
# Products of tiles (AMX) are summed in an order that depends on the number of rows: an answer would
# depend on what is asked beside it.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")

__version__ = "0.2.0.dev0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
