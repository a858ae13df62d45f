PYTHON ?= python3
BIN = .venv/bin
export COURSE_RESULTS ?= $(CURDIR)/results

help:            ## list the targets
	@grep -E '^[a-z]+: .*##' Makefile | sed 's/:.*## /\t/' | expand -t 16

.venv/installed: requirements.txt constraints.txt pyproject.toml
	$(PYTHON) -m venv .venv && $(BIN)/pip install -q -r requirements.txt -c constraints.txt && touch $@

run: .venv/installed            ## execute all notebooks into results/ and print the leaderboard
	@$(BIN)/python scripts/run.py

test: .venv/installed           ## ruff, unit tests and nbval over all notebooks, with an Elasticsearch node where one can be started
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .
	@COURSE_RESULTS=$$(mktemp -d) $(BIN)/python scripts/node.py run -- $(BIN)/python -m pytest -n 2 --dist loadfile --nbval

lab: .venv/installed            ## open the notebooks in JupyterLab
	$(BIN)/jupyter lab notebooks

elasticsearch: .venv/installed  ## start Elasticsearch on this machine, with Docker or else with Java 17 and Maven
	@$(BIN)/python scripts/node.py start

notebooks: .venv/installed      ## for authors: execute the committed notebooks in place, clean, with a node
	@$(BIN)/python scripts/node.py run -- $(BIN)/python scripts/run.py --in-place && $(BIN)/python scripts/data_card.py

bench: .venv/installed          ## measure the speed ratios of the design in one run
	@$(BIN)/python scripts/node.py run -- $(BIN)/python scripts/bench.py

slides: .venv/installed         ## the executed notebooks of results/ as slides (needs a network for reveal.js when shown)
	$(BIN)/jupyter nbconvert --to slides results/*.ipynb

clean:                          ## remove what the other targets made
	rm -rf .venv .cache results *.egg-info .pytest_cache .ruff_cache .hypothesis

.PHONY: help run test lab elasticsearch notebooks bench slides clean
