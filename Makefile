# Omni: `make up` starts everything, `make test` proves it. `make` alone lists the rest.

.DEFAULT_GOAL := help
.SUFFIXES:
MAKEFLAGS += --no-print-directory

DETACH ?=
NAME ?=
FOLLOW ?=
LINES ?= 40
YES ?=
ARGS ?=
ROUNDS ?= 10

# The system's Python only prepares .venv; PYTHON=… chooses another one for both.
STARTER := $(if $(PYTHON),$(PYTHON),python3)
ifneq ($(PYTHON),)
export PYTHON
endif

HERE := .venv/bin/python
PREPARE = $(NEED_PYTHON) && "$(STARTER)" -I omni/services/bootstrap.py
NEED_PYTHON = { command -v "$(STARTER)" >/dev/null || { \
	printf '\n  %s\n  %s\n' "Omni needs Python 3.11 or newer; $(STARTER) was not found." \
	"Install it (Debian: apt-get install python3) or name it: make $@ PYTHON=/path/to/it" >&2; \
	exit 1; }; }
# Before the first start there is nothing to ask.
NEED_VENV = { [ -x $(HERE) ] || { echo "Nothing is installed here yet. Start with \`make up\`."; exit 3; }; }

.PHONY: help up down status logs reset test soak conformance lint lock bench docs clean

help: ## This list
	@echo "Omni. Start with \`make up\`, then open http://127.0.0.1:8000/"
	@echo
	@awk -F ' ?## ' '/^[a-z]+:.*##/ { sub(/:.*/, "", $$1); printf "  make %-12s %s\n", $$1, $$2 }' Makefile
	@echo
	@echo "Settings are environment variables or lines in .env; docs/settings.md lists them."

up: ## Install what is missing and run everything; DETACH=1 returns when ready
	@$(PREPARE) && exec $(HERE) -m omni.services up $(if $(DETACH),--detach)

down: ## Stop everything; data is kept
	@$(NEED_VENV) && exec $(HERE) -m omni.services down

status: ## What runs, since when, how often it was restarted
	@$(NEED_VENV) && exec $(HERE) -m omni.services status $(ARGS)

logs: ## Last log lines; NAME=web for one process, FOLLOW=1 to stay, LINES=200 for more
	@$(NEED_VENV) && exec $(HERE) -m omni.services logs $(NAME) -n $(LINES) $(if $(FOLLOW),--follow)

reset: ## Delete this installation's data, keys and logs; asks first, YES=1 does not
	@$(NEED_VENV) && exec $(HERE) -m omni.services reset $(if $(YES),--yes)

test: ## Everything: linters, types, unit, integration and browser tests; ARGS goes to pytest
	@$(PREPARE) --tests && exec $(HERE) -m tests.run $(ARGS)

soak: ## The long version of the fault tests: kills, outages, random deaths; ROUNDS=10 is half an hour
	@$(PREPARE) --tests && OMNI_SOAK=$(ROUNDS) exec $(HERE) -m pytest -n 2 tests/chaos tests/engine \
		tests/live/test_interruptions.py $(ARGS)

conformance: ## What third-party judges say; installs them from npm, ARGS names some of them
	@$(PREPARE) --tests && exec $(HERE) -m tests.conformance $(ARGS)

lint: ## Only ruff, mypy, import-linter and the migrations check
	@$(PREPARE) --tests && exec $(HERE) -m tests.run --only-lint

bench: ## Start-up, pages, requests per second; durable steps, appends, streams
	@$(PREPARE) --tests && exec $(HERE) -m tests.bench $(ARGS)

docs: ## Write the generated parts of docs/ anew
	@$(PREPARE) && $(HERE) -m omni settings --markdown > docs/settings.md

lock: ## Resolve the dependencies anew into the hashed locks
	@$(PREPARE) && UV="$$(command -v uv || echo .venv-tools/bin/uv)" && \
	"$$UV" pip compile -q --upgrade --universal --python-version 3.11 --generate-hashes --no-header \
		pyproject.toml -o requirements.txt && \
	"$$UV" pip compile -q --upgrade --universal --python-version 3.11 --generate-hashes --no-header \
		--group test -c requirements.txt -o tests/requirements.txt

clean: ## Delete the virtual environment and caches; data is kept
	@if [ -x $(HERE) ] && $(HERE) -m omni.services status >/dev/null 2>&1; then \
		echo "Omni is running. Stop it first: make down"; exit 1; fi
	@rm -rf .venv .venv-tools .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	@find omni apps tests -name __pycache__ -type d -prune -exec rm -rf {} +
