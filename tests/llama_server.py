"""llama.cpp's server: ``python llama_server.py WEIGHTS PORT``; it ends with its process."""

from __future__ import annotations

import sys
import threading

#: Answers that a call may have, each with a context of its own.
SLOTS = 4


def main(weights: str, port: int) -> None:
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path, parameters.port = weights, port
    parameters.n_parallel, parameters.n_ctx = SLOTS, SLOTS * 1024
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
    # An answer then follows from its prompt alone, not from what was asked before.
    parameters.cache_prompt, parameters.cache_ram_mib = False, 0
    server = xllamacpp.Server(parameters)  # it runs as long as this object lives
    threading.Event().wait()
    del server


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
