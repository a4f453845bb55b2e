# Everything here needs Python 3.11+ and make, nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# Half of all that is installed; what is imported of it is compiled then.
HARDLY_READ := /(moto|mypy|mypyc|openai|pip|pygments|setuptools)/
export PYTHONUNBUFFERED := 1
# Without bytecode on the disk, the many processes of the tests would compile every module again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: install run test tests lint types imports preview pictures coverage search requirements clean

install: $(STAMP)  ## make .venv and install the project at its pinned versions; does nothing when up to date

# The Python in there leads nowhere once the system's has been replaced by a newer one.
ifneq ($(shell test -x $(BIN)/python && echo there),there)
.PHONY: $(STAMP)
endif

$(STAMP): requirements-pip.txt requirements-dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Marginalia needs Python 3.11 or newer; say which one with: make PYTHON=python3.12")'
	@echo "Installing into $(VENV) (once; less than a minute) ..."
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-pip.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --require-hashes -r requirements-dev.txt
	-@$(BIN)/python -m compileall -qq -j 0 -x '$(HARDLY_READ)' $(VENV)/lib  # pip would do this on one processor
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $(STAMP)

run: install  ## the Discord bot if DISCORD_TOKEN is set, else a chat in the terminal with the sample novel
	@$(BIN)/python -m bot start

preview: install  ## the bot in a Discord-like page in the browser, with no token
	@$(BIN)/python -m bot preview

pictures: install  ## take the README's pictures from the preview; needs a Chromium
	$(BIN)/python -m docs.pictures.take

test: lint imports  ## style, types, import rules, tests
	@$(MAKE) --no-print-directory --jobs 2 types tests  # mypy keeps one core busy, and the journeys mostly wait

tests: install  ## tests alone
	$(BIN)/python -m pytest --numprocesses 5 --dist worksteal

lint: install  ## style alone
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: install  ## types alone
	$(BIN)/mypy

imports: install  ## import rules alone
	$(BIN)/lint-imports

coverage: install  ## the tests again, one after another, and what they do not reach
	$(BIN)/python -m pytest --cov --cov-report=term-missing:skip-covered

search: install  ## the tests in all their variants, the property tests with many more examples, other ones each time
	HYPOTHESIS_PROFILE=search $(BIN)/python -m pytest -m "" --numprocesses 5 --dist worksteal

requirements: install  ## compile the pinned versions anew from pyproject.toml
	$(BIN)/uv pip compile pyproject.toml --quiet --universal --python-version 3.11 --generate-hashes \
		--no-strip-extras --no-emit-index-url --no-emit-find-links --no-header --output-file requirements.txt
	$(BIN)/uv pip compile pyproject.toml --quiet --universal --python-version 3.11 --generate-hashes \
		--no-strip-extras --no-emit-index-url --no-emit-find-links --no-header --extra cluster \
		--constraint requirements.txt --output-file requirements-cluster.txt
	$(BIN)/uv pip compile pyproject.toml --quiet --universal --python-version 3.11 --generate-hashes \
		--no-strip-extras --no-emit-index-url --no-emit-find-links --no-header --group dev --all-extras \
		--constraint requirements.txt --output-file requirements-dev.txt
	$(BIN)/uv pip compile --group build --quiet --universal --python-version 3.11 --generate-hashes \
		--no-strip-extras --no-emit-index-url --no-emit-find-links --no-header --constraint requirements-dev.txt --output-file requirements-build.txt
	$(BIN)/uv pip compile --group pip --quiet --universal --python-version 3.11 --generate-hashes \
		--no-strip-extras --no-emit-index-url --no-emit-find-links --no-header --output-file requirements-pip.txt

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage
