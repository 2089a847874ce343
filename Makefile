# The front of the laboratory. Every target sets the environment up when that is missing or out of date.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PROFILE ?=
RUN ?=
SESSIONS ?=
A ?=
B ?=
NEED ?= docs/need.toml
REPORT_LANG ?= ko,zh,en
PYTHON ?= python3

# An activated conda environment made from environment.yml is used as it is; otherwise one is made here.
ifeq ($(CONDA_DEFAULT_ENV),ipclab)
ENVIRONMENT := $(CONDA_PREFIX)
else
ENVIRONMENT := $(CURDIR)/.venv
endif
BIN := $(ENVIRONMENT)/bin
# One word for the shell, whatever is in it: a checkout may lie in a folder whose name has spaces and quotes.
quoted = '$(subst ','\'',$(1))'
# Tools run as modules, since no script's first line can name such a folder.
RUN_PYTHON := $(call quoted,$(BIN)/python)
IPCLAB := $(RUN_PYTHON) -m ipclab
# One more than CPUs, since tests wait: with more, mechanisms that poll take each other's CPU. The tests of one file stay
# together: they share what is dear to make. One that crashes does so once, not as often as it is started again.
PROCESSES := $(shell echo $$(( $$(nproc) < 5 ? $$(nproc) + 1 : 6 )))
TOGETHER := --dist loadfile --no-loadscope-reorder --max-worker-restart=0
# Each process would compile the package, and pytest would rewrite every test, anew; a make that a test starts is no part
# of this one.
PYTEST := env -u PYTHONDONTWRITEBYTECODE -u MAKEFLAGS -u MAKELEVEL $(RUN_PYTHON) -m pytest
# Our own packages are installed from here.
COMPILE := $(RUN_PYTHON) -m uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header --no-annotate \
	--python-version 3.11 --no-emit-package ipclab --no-emit-package ipclab-more
export IPCLAB_UNDER_MAKE := 1

.PHONY: help setup tools report compare choose measure test test-all all-tests test-fast check-code check doctor lab clean lock newest reference pictures words

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile
	@echo "  variables: PROFILE=smoke|quick|standard|full|published  RUN=<run folder>  SESSIONS=<count>  A=, B=<run folder>  NEED=<TOML file>  REPORT_LANG=ko,zh,en  PYTHON=python3"

setup: ## make or update the environment
	@PYTHON=$(call quoted,$(PYTHON)) scripts/setup.sh $(call quoted,$(ENVIRONMENT))

tools: # the environment with what tests and checks need
	@PYTHON=$(call quoted,$(PYTHON)) scripts/setup.sh $(call quoted,$(ENVIRONMENT)) dev

report: setup ## measure this machine if needed, render the reports (RUN renders that run)
	@$(IPCLAB) report $(if $(RUN),--run $(call quoted,$(RUN))) $(if $(PROFILE),--profile $(call quoted,$(PROFILE))) --lang $(call quoted,$(REPORT_LANG)) --measure

compare: setup ## compare two runs: make compare A=<run folder> B=<run folder>
	@$(IPCLAB) compare $(if $(A),$(call quoted,$(A))) $(if $(B),$(call quoted,$(B))) --lang $(call quoted,$(REPORT_LANG))

choose: setup ## which mechanism fits a need? a document: make choose NEED=<TOML file>
	@$(IPCLAB) choose --need $(call quoted,$(NEED)) $(if $(RUN),--run $(call quoted,$(RUN))) --report --lang $(call quoted,$(REPORT_LANG))

measure: setup ## measure this machine, or continue a run that was killed; SESSIONS=3 adds whole sessions to it
	@$(IPCLAB) measure $(if $(RUN),--run $(call quoted,$(RUN))) $(if $(PROFILE),--profile $(call quoted,$(PROFILE))) $(if $(SESSIONS),--sessions $(call quoted,$(SESSIONS)))

test: tools ## check the code, run the tests
	@$(MAKE) -j2 check-code all-tests

all-tests: tools  # beside the checks, of which types take long on one CPU
	@$(PYTEST) -n $(PROCESSES) $(TOGETHER)

test-all: tools ## all tests, with those of every combination, types of tests, kill storms, simulations, and of native code
	@$(PYTEST) -n $(PROCESSES) $(TOGETHER) -m 'slow or not slow'
	@if command -v cargo >/dev/null; then CARGO_TARGET_DIR=$(call quoted,$(ENVIRONMENT))/native cargo test --quiet --locked --manifest-path ipclab/native/hardware/Cargo.toml; fi

test-fast: tools ## the quick tests, for daily work
	@$(PYTEST) -n $(PROCESSES) $(TOGETHER) -m 'not slow and not matrix'

check-code: tools ## style, types, spelling, packaging
	@$(RUN_PYTHON) -m ruff check .
	@$(RUN_PYTHON) -m ruff format --check --quiet .
	@$(RUN_PYTHON) -m mypy
	@$(RUN_PYTHON) -m codespell_lib ipclab packages tests benchmarks docs scripts Makefile README.md CONTRIBUTING.md CHANGELOG.md
	@$(RUN_PYTHON) -m validate_pyproject pyproject.toml packages/more/pyproject.toml

doctor: setup ## is this machine fit to measure?
	@$(IPCLAB) doctor

check: setup ## is every report what data, code, words and lock would give?
	@$(IPCLAB) check

lab: setup ## open the notebooks in JupyterLab
	@$(RUN_PYTHON) -m jupyterlab --ServerApp.root_dir=$(call quoted,$(CURDIR)) --LabApp.default_url=/lab/tree/notebooks/index.ipynb \
		--LabApp.app_settings_dir=$(call quoted,$(CURDIR)/scripts/jupyterlab) --ServerApp.answer_yes=True \
		$(if $(filter 0,$(shell id -u)),--allow-root) $(LAB_OPTIONS)

clean: setup ## remove what a killed run left behind
	@$(IPCLAB) clean

lock: tools ## pin the newest packages that the pyproject.toml files allow
	@$(COMPILE) --upgrade --extra published --extra queues --extra more --group setup pyproject.toml -o requirements.lock
	@$(COMPILE) --upgrade --group dev -c requirements.lock -o requirements-dev.lock

newest: ## run all tests with the newest packages that are allowed, in a clone of what is committed
	@folder=$$(mktemp -d); trap 'rm -rf "$$folder"' EXIT; git clone --quiet . "$$folder/ipclab"; \
	$(MAKE) -C "$$folder/ipclab" lock; git -C "$$folder/ipclab" diff --unified=0 requirements.lock | grep '^[-+][a-z]' || true; \
	$(MAKE) -C "$$folder/ipclab" all-tests

reference: setup ## make the newest finished run, or RUN, the committed one; its pictures with it
	@$(IPCLAB) bundle $(if $(RUN),$(call quoted,$(RUN)),newest) data/reference.ipclab --replace --samples 12
	@$(RUN_PYTHON) scripts/pictures.py

pictures: setup ## renew the outputs of the notebooks and the pictures of the READMEs from the committed run
	@$(RUN_PYTHON) scripts/pictures.py

words: setup ## bring the translation catalogues up to date
	@$(RUN_PYTHON) -m ipclab.report.pages.words update
