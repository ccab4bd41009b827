# `make run`: an agent session on generated list functions, offline, and its page. `make test`: what is
# checked with every change. `make test-search`: the embedded search. `make soak`: what takes long.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
SEED ?= 0
# Of pyproject.toml. Models in process need `make test EXTRAS=test,local,serve`: with torch that may be
# gigabytes, so nobody gets it unasked, and their tests say loudly that they are skipped.
EXTRAS ?= test
# Processes that run tests side by side; three for two cores, because many tests wait. One, for a debugger or the
# order of the files: `make test JOBS=0`.
JOBS ?= 3
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q

.PHONY: run test test-search lint soak bench bench-compare docs lock clean

run: .venv/.core
	$(BIN)/peirce run list_functions --problems 12 --seed $(SEED) --model search --observations 4 --store runs/first.duckdb
	$(BIN)/peirce report last --store runs/first.duckdb --out runs/first.html

# Everything but the long checks (`make soak`) and the tests of the embedded search alone.
test: .venv/.$(EXTRAS) lint
	$(PYTEST) -n $(JOBS) -m "not soak and not search" $(ARGS)

# The embedded search alone: what .ci/search_paths lists. CI runs it where one of those paths changed.
test-search: .venv/.$(EXTRAS)
	$(PYTEST) -n $(JOBS) -m "search and not soak" $(ARGS)

lint: .venv/.$(EXTRAS) .types/peirce
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy -p peirce

# The long checks: every hostile hypothesis on Docker, the tests of the embedded search, all random cases.
soak: .venv/.$(EXTRAS)
	SOAK_COUNTS=1 $(PYTEST) -m "soak or search or counted" $(ARGS)

bench: .venv/.core
	$(BIN)/python bench/run_all.py $(if $(ONLY),--only $(ONLY)) $(if $(OUT),--out $(OUT))

# Two working trees side by side, each with its own .venv: `make bench-compare A=DIR B=DIR [ONLY=step,gear]`.
bench-compare: .venv/.core
	@test -n "$(A)" -a -n "$(B)" || { echo "usage: make bench-compare A=DIR B=DIR [ONLY=step,gear] [ROUNDS=7]" >&2; exit 2; }
	$(BIN)/python bench/compare.py $(A) $(B) $(if $(ONLY),--only $(ONLY)) $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(OUT),--out $(OUT))

# The site of the documentation, in build/site. A link that leads nowhere is an error.
docs:
	$(MAKE) .venv/.docs EXTRAS=docs
	$(BIN)/python docs/generate_reference.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build

# The versions that CI installs (.ci/lock.txt), renewed within the bounds of pyproject.toml. torch is left to
# .ci/constraints.txt, because its builds differ between indexes. The tool gets an environment of its own.
lock: | .venv/bin/python
	test -x .venv/lock/bin/pip-compile || $(PYTHON) -m venv .venv/lock
	.venv/lock/bin/python -m pip install --quiet --disable-pip-version-check 'pip-tools>=7.6,<8'
	CUSTOM_COMPILE_COMMAND="make lock" .venv/lock/bin/pip-compile --quiet --upgrade --strip-extras --no-allow-unsafe --unsafe-package torch --unsafe-package peirce \
		--no-annotate --no-emit-index-url --no-emit-trusted-host --no-emit-find-links \
		--no-emit-options --constraint .ci/constraints.txt --extra test,local,train,serve,report,docs,cluster,peers,mcp,studio \
		--output-file .ci/lock.txt pyproject.toml

# mypy finds the package by name through a link to the repository itself.
.types/peirce:
	mkdir -p .types && ln -sfn .. .types/peirce

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/.core: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

.venv/.$(EXTRAS): pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[$(EXTRAS)]"
	touch $@ .venv/.core

clean:
	rm -rf .venv .types build *.egg-info
