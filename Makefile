# Every target does the set-up it needs; a second run installs nothing.

python := .venv/bin/python
# The embedded server of the targets below, apart from that of the user.
export PYMEM_DATA ?= $(if $(filter 0,$(shell id -u)),/var/lib/pymem-checkout,$(CURDIR)/.build/server)

# Processes that run tests, each with a server of its own; one where all share a named server.
WORKERS ?= $(if $(PYMEM_TEST_DATABASE_URL)$(PYMEM_TEST_SERVER),0,2)

.DEFAULT_GOAL := help
.PHONY: help demo test lint sql generate graph psql bench plots campaign mutants rework clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' Makefile

demo: .build/environment ## the whole story in a minute, on an embedded server
	$(python) examples/demo.py

test: .build/environment ## all tests: pgTAP and pytest
	scripts/system-packages
	scripts/distribution-server
	scripts/poolers
	scripts/node-packages
	scripts/browser
	$(python) -m pytest --numprocesses $(WORKERS) --dist loadfile --no-loadscope-reorder $(TESTS)

lint: .build/environment ## ruff, mypy, sqlfluff, and whether generated files are up to date
	$(python) -m ruff check
	$(python) -m ruff format --check
	$(python) -m mypy
	$(python) -m sqlfluff lint --nocolor deploy revert verify
	$(python) -m generator --check
	scripts/bundles --check

sql: ## write the bundles of the schema, which psql alone deploys, to .build/sql
	@scripts/bundles .build/sql

generate: .build/environment ## write all files that follow from others
	$(python) -m generator

graph: .build/environment ## write the ONNX graph of the embedding model
	$(python) scripts/build_graph.py

psql: .build/environment ## a psql session on the embedded server
	psql "$$(.venv/bin/pymem up)"

bench: .build/environment ## latency at 2k, 20k and 100k facts beside the floors
	$(python) bench/latency.py

plots: .build/environment ## docs/images from the figures in bench/results
	scripts/python-environment bench
	$(python) bench/plots.py

campaign: .build/environment ## storms, kills, faults and fuzz: make campaign SECONDS=300 SEED=1
	$(python) -m campaign all --seconds $(or $(SECONDS),300) --seed $(or $(SEED),1)

mutants: .build/environment ## whether pgTAP notices changed functions: make mutants COUNT=220 SEED=1
	scripts/system-packages
	scripts/python-environment test lint campaign
	$(python) -m campaign mutants --count $(or $(COUNT),220) --seed $(or $(SEED),1)

rework: ## begin to change a released function: make rework change=functions/core/search/recall note='...'
	@test -n "$(change)" -a -n "$(note)" || { echo "usage: make rework change=CHANGE note='what it does'"; exit 2; }
	mkdir -p $(foreach kind,deploy revert verify,sql/reworked/$(kind)/$(dir $(change)))
	sqitch rework $(change) --note '$(note)'

clean: ## remove what make made here; data of servers stay
	rm -rf .build .venv .mypy_cache .pytest_cache .ruff_cache

.build/environment: pyproject.toml constraints.txt scripts/python-environment
	scripts/python-environment test lint
	@mkdir -p .build && touch $@
