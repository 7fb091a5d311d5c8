# Each target makes .venv itself when it is not there, with the exact versions of constraints.txt, and does nothing twice. `integrations`
# and `rllib` make .venv-integrations, with those of constraints-integrations.txt: Ray RLlib pins an older gymnasium.
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
INTEGRATIONS := .venv-integrations/.installed
INTEGRATIONS_EXTRAS := rllib,torchrl,tianshou,train,sb3,dev

.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:
.PHONY: help train rllib test integrations slow lint format types bench notebooks dist lock clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

train: $(TRAIN) ## Train a policy for Poison, evaluate it and print how strong it is (options in ARGS)
	$(BIN)/python -m experiments.train_dmc --resume $(ARGS)

rllib: $(INTEGRATIONS) ## Train a policy with Ray RLlib, here or on a Ray cluster (options in ARGS)
	.venv-integrations/bin/python -m experiments.train_rllib --resume $(ARGS)

test: $(ALL) ## Run the tests
	$(BIN)/pytest -q -n auto $(ARGS)

integrations: $(INTEGRATIONS) ## Test RLlib, TorchRL and Tianshou on the environments, and the adapters with the older gymnasium
	.venv-integrations/bin/pytest -q -n auto tests/conformance --ignore-glob='*/test_openspiel*' # OpenSpiel is tested in .venv
	.venv-integrations/bin/pytest -q tests/integrations $(ARGS)

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
lock: ## Renew constraints.txt and constraints-integrations.txt from the ranges in pyproject.toml
	$(call resolve,$(ALL_EXTRAS),constraints.txt)
	$(call resolve,$(INTEGRATIONS_EXTRAS),constraints-integrations.txt)

define resolve # extras, file
	rm -rf build/lock
	$(PYTHON) -m venv build/lock
	build/lock/bin/pip install -q -e '.[$(1)]' $(TORCH)
	{ printf '# The exact versions that are installed and tested together: $(1). Resolved with '; \
	  $(PYTHON) -c 'import platform; print("Python", platform.python_version() + ".")'; \
	  echo '# Renew with `make lock`; the ranges that a user of the package gets stand in pyproject.toml.'; \
	  build/lock/bin/pip freeze --all --exclude-editable --exclude pip | grep -Eiv '^(nvidia|cuda|triton)' | sed 's/+cpu$$//'; \
	} > build/$(2)
	mv build/$(2) $(2)
	rm -rf build/lock
endef

clean: ## Remove the environments, caches and built files (not runs/)
	rm -rf .venv .venv-integrations .venv*.incomplete build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage
	find poison_env agents experiments tests -name __pycache__ -prune -exec rm -rf {} +

# `make train` installs what it needs; every other target of .venv installs all, on top of it if it is there. While an installation
# runs, its .incomplete file holds the process of its make; one left behind by a make that was killed says that the environment is not
# whole, and it is made anew.
define install # environment, extras, constraints, stamps
	@while [ -e $(1).incomplete ] && kill -0 "$$(cat $(1).incomplete)" 2>/dev/null; do \
	    echo "waiting for another make to finish $(1) (if there is none, remove $(1).incomplete)"; sleep 5; done
	@if [ -e $(1).incomplete ] || [ ! -x $(1)/bin/python ]; then \
	    echo $$PPID > $(1).incomplete; echo "making $(1)"; $(PYTHON) -m venv --clear $(1); fi
	@echo $$PPID > $(1).incomplete
	@echo "installing poison_env[$(2)]: a minute or two, and the downloads"
	@$(1)/bin/pip install -q -c $(3) hatchling
	@$(1)/bin/pip install -q -c $(3) --no-build-isolation -e '.[$(2)]'
	@touch $(4)
	@rm $(1).incomplete
endef

$(TRAIN): pyproject.toml constraints.txt
	$(call install,.venv,train,constraints.txt,$(TRAIN))

$(ALL): pyproject.toml constraints.txt
	$(call install,.venv,$(ALL_EXTRAS),constraints.txt,$(TRAIN) $(ALL))

$(INTEGRATIONS): pyproject.toml constraints-integrations.txt
	$(call install,.venv-integrations,$(INTEGRATIONS_EXTRAS),constraints-integrations.txt,$(INTEGRATIONS))
