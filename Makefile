# Each target makes .venv itself when it is not there, with the exact versions of constraints.txt, and does nothing twice.
#
#   make train ARGS="--help"     ARGS go to the program behind the target
#   PYTHON=python3.12 make test  the Python that .venv is made with, 3.11 to 3.13
#
# On Linux PyPI's torch brings CUDA with it, several gigabytes that nothing here needs. For the small CPU build:
#   PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu make train

PYTHON ?= python3
ARGS ?=

BIN := .venv/bin
TRAIN := .venv/.installed-train
ALL := .venv/.installed-all
ALL_EXTRAS := train,sb3,openspiel,fast,draw,notebooks,dev

.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:
.PHONY: help train test slow lint format types bench notebooks dist lock clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

train: $(TRAIN) ## Train a policy for Poison, evaluate it and print how strong it is (options in ARGS)
	$(BIN)/python -m experiments.train_dmc --resume $(ARGS)

test: $(ALL) ## Run the tests
	$(BIN)/pytest -q -n auto $(ARGS)

slow: $(ALL) ## Run the tests that take long: learning, exhaustive comparison
	$(BIN)/pytest -m slow $(ARGS)

lint: $(ALL) ## Check style and format
	$(BIN)/ruff check
	$(BIN)/ruff format --check

format: $(ALL) ## Repair style and format where ruff can
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

types: $(ALL) ## Check types (mypy --strict)
	$(BIN)/mypy

bench: $(ALL) ## Measure moves per second
	$(BIN)/python -m experiments.benchmark $(ARGS)

notebooks: $(ALL) ## Run every notebook
	$(BIN)/python -m experiments.run_notebooks $(ARGS)

dist: $(ALL) ## Build wheel and sdist and check them
	rm -rf dist
	$(BIN)/python -m build --no-isolation
	$(BIN)/twine check --strict dist/*

# Run with the oldest Python supported, so that every version chosen has a wheel for all of them. TORCH is chosen by hand: sb3, CUDA
# and the CPU index move at their own pace. Its "+cpu" and what only CUDA builds need do not belong in the lock.
TORCH ?= torch==2.13.0
lock: ## Renew constraints.txt from the ranges in pyproject.toml
	rm -rf build/lock
	$(PYTHON) -m venv build/lock
	build/lock/bin/pip install -q -e '.[$(ALL_EXTRAS)]' $(TORCH)
	{ printf '# The exact versions that are installed and tested together, all extras, resolved with '; \
	  $(PYTHON) -c 'import platform; print("Python", platform.python_version() + ".")'; \
	  echo '# Renew with `make lock`; the ranges that a user of the package gets stand in pyproject.toml.'; \
	  build/lock/bin/pip freeze --all --exclude-editable --exclude pip | grep -Eiv '^(nvidia|cuda|triton)' | sed 's/+cpu$$//'; \
	} > build/constraints.txt
	mv build/constraints.txt constraints.txt
	rm -rf build/lock

clean: ## Remove .venv, caches and built files (not runs/)
	rm -rf .venv $(BUSY) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage
	find poison_env agents experiments tests -name __pycache__ -prune -exec rm -rf {} +

# `make train` installs what it needs; every other target installs all, on top of it if it is there. While an installation runs, BUSY
# holds the process of its make; one left behind by a make that was killed says that .venv is not whole, and it is made anew.
BUSY := .venv.incomplete

define install # extras, stamps
	@while [ -e $(BUSY) ] && kill -0 "$$(cat $(BUSY))" 2>/dev/null; do \
	    echo "waiting for another make to finish .venv (if there is none, remove $(BUSY))"; sleep 5; done
	@if [ -e $(BUSY) ] || [ ! -x $(BIN)/python ]; then \
	    echo $$PPID > $(BUSY); echo "making .venv"; $(PYTHON) -m venv --clear .venv; fi
	@echo $$PPID > $(BUSY)
	@echo "installing poison_env[$(1)]: a minute or two, and the downloads"
	@$(BIN)/pip install -q -c constraints.txt hatchling
	@$(BIN)/pip install -q -c constraints.txt --no-build-isolation -e '.[$(1)]'
	@touch $(2)
	@rm $(BUSY)
endef

$(TRAIN): pyproject.toml constraints.txt
	$(call install,train,$(TRAIN))

$(ALL): pyproject.toml constraints.txt
	$(call install,$(ALL_EXTRAS),$(TRAIN) $(ALL))
