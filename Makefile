# The commands of this project. `make` alone lists them.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
DEPLOY := .venv/deploy

.DEFAULT_GOAL := help
.PHONY: help setup up test lint format lock schema release-schema playthroughs api-guide fuzz bench \
  bench-bots soak chaos alert-rule deploy-tools deploy-check arena train clean

help: ## List the commands
	@grep -E '^[a-z-]+:.*## ' Makefile | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 20

setup: $(READY) ## Make the environment in .venv

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo 'Ringmaster needs Python 3.11 or newer: make PYTHON=python3.12 setup'; exit 1; }
	@echo 'Setting up .venv (a minute or two, once)'
	@$(PYTHON) -m venv .venv || { \
	  echo 'Python has no venv module here; on Debian: apt install python3-venv'; exit 1; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes \
	  --requirement requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps \
	  --no-build-isolation --editable .
	@touch $@

up: $(READY) ## Run everything: API, worker, sweeper, Redis (PORT=8123 chooses the port)
	@exec $(BIN)/python -m api.cli.main up $(if $(PORT),--port $(PORT))

test: $(READY) ## Run the tests
	@$(BIN)/python -m pytest --numprocesses 3 --dist loadfile --no-loadscope-reorder

lint: $(READY) ## Check style, types and who imports whom
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/mypy examples
	@$(BIN)/lint-imports

format: $(READY) ## Format the code
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

schema: $(READY) ## Write schema/schema.graphql and schema/openapi.json anew
	@$(BIN)/python -m api.cli.main schema > schema/schema.graphql.new
	@mv schema/schema.graphql.new schema/schema.graphql
	@$(BIN)/python -m api.cli.main schema --openapi > schema/openapi.json.new
	@mv schema/openapi.json.new schema/openapi.json

release-schema: schema ## Let the schemas as they are be what later ones are compared with
	@cp schema/schema.graphql schema/openapi.json schema/released/

playthroughs: $(READY) ## Write the playthroughs of tests/engine anew
	@$(BIN)/python -m tests.engine.playthroughs

api-guide: $(READY) ## Run docs/api.md and write its answers anew if one has another form
	@$(BIN)/python -m tests.api_guide

lock: $(READY) ## Pin every dependency anew in requirements.lock
	@$(BIN)/python -m pip install --quiet uv
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	  --no-annotate --no-header --extra dev pyproject.toml --output-file requirements.lock
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	  --no-annotate --no-header --extra train --constraint requirements.lock \
	  pyproject.toml --output-file requirements-train.lock
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	  --no-annotate --no-header --extra image --extra tracing --constraint requirements.lock \
	  pyproject.toml --output-file requirements-image.lock
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	  --no-annotate --no-header --group deploy --output-file requirements-deploy.lock

fuzz: $(READY) ## Let schemathesis try the API at length
	@FUZZ_EXAMPLES=300 $(BIN)/python -m pytest --timeout 3600 tests/contract

bench: $(READY) ## Measure everything (ONLY=moves, JSON=file, PEERS=1 beside other servers)
	@OPENBLAS_NUM_THREADS=1 ONLY='$(ONLY)' JSON='$(JSON)' PEERS='$(PEERS)' \
	  $(BIN)/python -m tests.bench

bench-bots: $(READY) ## Measure what a bot's decision costs, and a turn from commit to commit
	@OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.bench.bots

soak: $(READY) ## Live under a light load and see whether anything grows (MINUTES=30)
	@$(BIN)/python -m tests.soak --minutes $(or $(MINUTES),30) \
	  --csv $(or $(CSV),soak.csv) $(if $(DRAWINGS),--drawings $(DRAWINGS))

chaos: $(READY) ## Kill, freeze, cut and stall at random and see whether it matters (MINUTES=3 SEED=1)
	@$(BIN)/python -m tests.chaos --minutes $(or $(MINUTES),3) $(if $(SEED),--seed $(SEED))

alert-rule: ## Write the PrometheusRule of k8s/monitoring anew from alerts.yaml
	@{ sed '/^spec:/q' k8s/monitoring/prometheus-rule.yaml; \
	  sed -n '/^groups:/,$$p' k8s/monitoring/alerts.yaml | sed 's/^./  &/'; } > .rule.new
	@mv .rule.new k8s/monitoring/prometheus-rule.yaml

deploy-tools: $(DEPLOY)/.ready ## What deploy-check needs, and kubectl if there is none

$(DEPLOY)/.ready: requirements-deploy.lock $(READY)
	@$(PYTHON) -m venv $(DEPLOY)
	@sed -n '/^uv==/,/[^\\]$$/p' requirements-deploy.lock > $(DEPLOY)/uv.lock
	@$(DEPLOY)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes \
	  --requirement $(DEPLOY)/uv.lock
	@$(DEPLOY)/bin/uv pip sync --quiet --python $(DEPLOY)/bin/python --require-hashes \
	  requirements-deploy.lock
	@command -v kubectl > /dev/null || .ci/kubectl $(DEPLOY)/bin
	@touch $@

deploy-check: deploy-tools ## Hold manifests, Dockerfile and compose file against schemas and policies
	@$(DEPLOY)/bin/python -m tests.deploy.check
	@$(BIN)/python -m tests.deploy.image

arena: $(READY) ## Play every level against the one before it (DEALS=100)
	@$(BIN)/python -m api.cli.main arena $(if $(DEALS),--deals $(DEALS))

train: $(READY) ## Train the nets of the learned levels anew; goes on where it was stopped
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes \
	  --requirement requirements-train.lock
	@$(BIN)/python -m api.cli.main train

clean: ## Remove the environment and the embedded Redis's data
	rm -rf .venv .ringmaster
