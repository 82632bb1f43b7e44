#!/bin/sh
# The tracker, the receiver and the stand-in against GitHub's own description, GitHub's own examples of payloads, and a GitHub that
# others wrote. Needs Node 20 or newer and npm; fails when they, or the packages, are missing.
set -eu
cd "$(dirname "$0")/.."
folder=${EXPLAINBOT_NODE_PACKAGES:-.venv/node}
sh tests/contract/install.sh "$folder"
EXPLAINBOT_NODE_PACKAGES=$folder exec .venv/bin/python -m pytest tests/contract -q
