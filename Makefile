# `make help` lists the targets. Each installs what it needs into .venv. The machine only needs
# Python >= 3.11, make, git, and Go >= 1.26 (if Go is missing, a Python package provides it).

# A Python built without optimizations (pyenv's default) takes 20 % longer for a review, so the system's is used instead,
# if it can create a .venv. To choose another: make test PYTHON=python3.13 VENV=.venv-3.13
OPTIMIZED := import sys, sysconfig; sys.exit("--enable-optimizations" not in (sysconfig.get_config_var("CONFIG_ARGS") or ""))
USABLE := import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell if ! python3 -c '$(OPTIMIZED)' && /usr/bin/python3 -c '$(USABLE)'; then echo /usr/bin/python3; else echo python3; fi 2>/dev/null)
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
SBOM := build/jobgate.cdx.json
DIST := dist

# Tests start hundreds of programs, which must not compile their imports each time.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help install lock audit-deps demo test retest chart chart-template check format crds docs site console-page pictures controlplane bench bench-all differential soak soak-certs fuzz golden dist sbom release clean

help: ## List the targets
	@echo 'jobgate: admission webhook and CRD toolkit for distributed training jobs on Kubernetes (README.md).'
	@echo 'To try it: make install demo. To change it: make check test, and read CONTRIBUTING.md.'
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s  %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: $(STAMP) ## Create .venv with the locked versions of all packages

$(STAMP): requirements.lock pyproject.toml packages/crdgen/pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "jobgate needs Python 3.11 or newer; name it with PYTHON=…")'
	$(PYTHON) -m venv --clear $(VENV)
	@# pip installs only uv, which then installs the rest ten times faster.
	awk '/^[^ ]/ { wanted = /^uv==/ } wanted' requirements.lock > $(VENV)/uv.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(VENV)/uv.lock
	$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements.lock
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable packages/crdgen --editable .
	@# hatchling copies what it force-includes; the programs of .venv/bin would run the copy instead of the checkout.
	rm -rf $(VENV)/lib/python*/site-packages/crdgen
	@touch $@

lock: install ## Update requirements.lock from pyproject.toml
	$(BIN)/uv pip compile --quiet --upgrade --universal --generate-hashes --python-version 3.11 --extra all --group dev --group docs \
		--no-emit-package jobgate-crdgen --no-header --no-annotate pyproject.toml --output-file requirements.lock

audit-deps: install ## Check the locked packages for known vulnerabilities (needs the internet)
	$(BIN)/pip-audit --strict --require-hashes --disable-pip --requirement requirements.lock

demo: install ## Start here: examples, then your own jobs, on a real API server with jobgate (DEMO="--life 3600")
	$(BIN)/python -m examples.demo $(DEMO)

test: install controlplane ## Run all tests, with a real API server (KUBERNETES=1.36.3); for the chart: make chart
	$(BIN)/python -m pytest --numprocesses auto --dist loadgroup --no-loadscope-reorder -m "not helm"

retest: install ## Run the few tests that failed once more, alone: what passes now depends on load
	$(BIN)/python -m tools.retest

chart: install ## Test the chart with the real Helm, which is built once (some minutes)
	$(BIN)/python -m pytest -m helm

chart-template: install ## Compare the output of `helm template` with the manifests (a minute)
	$(BIN)/python -m pytest -m helm tests/installation/test_chart.py

check: install ## Check format, lint, types, layers, spelling and generated files
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell
	$(BIN)/python -m tools.pod_definitions --check
	$(BIN)/jobgate manifests --output-dir manifests --check
	$(BIN)/python -m tools.kind_pages --check
	$(BIN)/python -m tools.doctor_page --check
	$(BIN)/python -m tools.pictures --check
	$(BIN)/python -m tests.certs.picture --check

format: install ## Format the code, and apply fixes of the linter
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

crds: install ## Regenerate manifests/ from the models
	$(BIN)/python -m tools.pod_definitions
	$(BIN)/jobgate manifests --output-dir manifests

docs: install ## Regenerate the schemas and pages of kinds, and docs/reference/doctor.md, from the code
	$(BIN)/python -m tools.kind_pages
	$(BIN)/python -m tools.doctor_page
	$(BIN)/python -m tools.configured_schema

console-page: install ## Bundle the editor of the console's page (LOCK=1: update its packages)
	$(BIN)/python -m tools.page $(if $(LOCK),--lock)

pictures: install controlplane ## Make the pictures of README and docs/ again (PICTURES=flow: only this)
	$(if $(filter-out rotation,$(or $(PICTURES),all)),$(BIN)/python -m tools.pictures $(filter-out rotation,$(PICTURES)))
	$(if $(filter rotation,$(or $(PICTURES),rotation)),$(BIN)/python -m tests.certs.picture)

site: install ## Build the documentation as a website into build/site, and check its links
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --config-file website/mkdocs.yml
	@echo 'open build/site/index.html, or: $(BIN)/python -m http.server --directory build/site'

controlplane: install ## Build the Kubernetes control plane of tests and demo, once
	$(BIN)/python -m controlplane build

golden: install ## Regenerate the golden files of the tests; review the diff
	$(BIN)/python -m tests.crdgen.reading.oracle
	$(BIN)/python -m tests.crdgen.re2.oracle
	$(BIN)/python -m tests.crdgen.golden

bench: install ## Compare the server with a webhook in Go and a constant answer (BENCH=--quick: 3 minutes, not 15)
	$(BIN)/python -m bench.comparison $(BENCH)
	$(BIN)/python -m bench.review

bench-all: install controlplane ## Run all benchmarks, and update the pages of results
	$(BIN)/python -m bench.comparison --write
	$(BIN)/python -m bench.review --write
	-$(BIN)/python -m bench.growth --write
	$(BIN)/python -m bench.creates --write
	$(BIN)/python -m bench.crdgen
	$(BIN)/python -m bench.manifests

differential: install controlplane ## Compare all verdicts with a real API server's, and update the pages of results
	$(BIN)/python -m tests.differential.pods
	$(BIN)/python -m tests.differential.crds
	$(BIN)/python -m tests.differential.objects --models tests.crdgen --models tests.crdgen.cli.shop

soak: install ## Run servers under every kind of load and attack: MINUTES=5
	$(BIN)/python -m bench.soak --minutes $(or $(MINUTES),5)

fuzz: install ## Fuzz with objects drawn from the schemas: MINUTES=10; keeps each failure as a case
	$(BIN)/python -m tests.hostile.fuzz --minutes $(or $(MINUTES),10)

soak-certs: install controlplane ## Rotate certificates 200 times under load, killed at every step (an hour)
	$(BIN)/python -m bench.certs_soak

dist: install ## Build the source distribution and the wheels into dist/
	rm -rf $(DIST)
	$(BIN)/uv build --quiet --no-build-isolation --python $(BIN)/python --out-dir $(DIST)
	$(BIN)/uv build --quiet --no-build-isolation --python $(BIN)/python --wheel --out-dir $(DIST) packages/crdgen
	$(BIN)/uv build --quiet --no-build-isolation --python $(BIN)/python --wheel --out-dir $(DIST) packages/testing

sbom: install ## Write the SBOM of the wheel with all extras to build/jobgate.cdx.json
	@mkdir -p $(dir $(SBOM))
	@# uv lists the packages; their locked versions and hashes come from requirements.lock.
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --extra all --constraint requirements.lock \
		--no-emit-package jobgate-crdgen --no-header --no-annotate pyproject.toml > $(SBOM).names
	awk 'NR == FNR { named[$$1]; next } /^[^ ]/ { wanted = $$1 in named } wanted' $(SBOM).names requirements.lock > $(SBOM).lock
	$(BIN)/cyclonedx-py requirements --pyproject pyproject.toml --output-reproducible --output-file $(SBOM) $(SBOM).lock

release: install ## Cut a release from this commit, without publishing it: VERSION=0.1.0 IMAGE=REGISTRY/jobgate:v0.1.0
	$(BIN)/python -m tools.release $(VERSION) $(if $(IMAGE),--image $(IMAGE))

clean: ## Remove generated files; the cache of the control plane stays
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
