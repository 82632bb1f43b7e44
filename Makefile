# One command each: `make demo` shows the main job, `make test` proves it.

PYTHON ?= python3
BIN := .venv/bin
UV := UV_PYTHON_DOWNLOADS=never $(BIN)/uv

.PHONY: demo test battery contract setup setup-dev lint lock clean

demo: setup  ## fetch sglang's release once, build its catalogue, serve the demo
	$(BIN)/explainbot demo

test: setup-dev  ## run all tests
	$(BIN)/python -m pytest -n auto -q

setup: .venv/.runtime  ## the program alone, at .venv/bin/explainbot

setup-dev: .venv/.dev  ## the program and what its tests need

battery: setup-dev  ## hostile input, floods, faults under kill -9: hours; goes on where it was stopped
	$(BIN)/python tests/bench/battery.py

contract: setup-dev  ## the tests against GitHub's own description and payloads (needs npm)
	.ci/github-contract.sh

lint: setup-dev  ## style, types, import layers
	$(BIN)/ruff check bot tests
	$(BIN)/ruff format --check bot tests
	$(BIN)/mypy
	$(BIN)/lint-imports

lock: .venv/bin/uv  ## write the lock files anew from pyproject.toml
	$(UV) pip compile pyproject.toml --extra build --universal --generate-hashes -q -o requirements.lock
	$(UV) pip compile pyproject.toml --extra build --extra dev --universal --generate-hashes -q \
		-c requirements.lock -o requirements-dev.lock

clean:  ## remove what this file made
	rm -rf .venv

.venv/bin/uv:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -q uv==0.13.9

.venv/.runtime: requirements.lock pyproject.toml | .venv/bin/uv
	$(UV) pip install -q --python $(BIN)/python --require-hashes -r requirements.lock
	$(UV) pip install -q --python $(BIN)/python --no-deps --no-build-isolation -e .
	touch $@

.venv/.dev: requirements-dev.lock .venv/.runtime
	$(UV) pip install -q --python $(BIN)/python --require-hashes -r requirements-dev.lock
	touch $@
