"""llama.cpp's server: ``python llama_server.py WEIGHTS PORT``; it ends with its process."""

from __future__ import annotations

import sys
import threading

import xllamacpp

#: Answers that a call may have, each with a context of its own.
SLOTS = 4

parameters = xllamacpp.CommonParams()
parameters.model.path, parameters.port = sys.argv[1], int(sys.argv[2])
parameters.n_parallel, parameters.n_ctx = SLOTS, SLOTS * 1024
parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
# An answer then follows from its prompt alone, not from what was asked before.
parameters.cache_prompt, parameters.cache_ram_mib = False, 0
server = xllamacpp.Server(parameters)
threading.Event().wait()
