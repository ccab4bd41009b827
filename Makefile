# `make run`: an agent session on generated list functions, offline. `make test`: everything that is checked.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
SEED ?= 0

.PHONY: run test lint soak bench clean

run: .venv/.core
	$(BIN)/peirce run list_functions --problems 12 --seed $(SEED) --model search --observations 4 --store runs/first.duckdb

test: .venv/.test lint
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -m "not soak" $(ARGS)

lint: .venv/.test .types/peirce
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy -p peirce

soak: .venv/.test
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -m soak $(ARGS)

bench: .venv/.core
	for script in bench/*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

# mypy finds the package by name through a link to the repository itself.
.types/peirce:
	mkdir -p .types && ln -sfn .. .types/peirce

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/.core: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

.venv/.test: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[test]"
	touch $@ .venv/.core

clean:
	rm -rf .venv .types build *.egg-info
