#!/bin/sh
# Install what the contract tests hold the stand-in and the tracker against: GitHub's own description of its API, its own
# examples of webhook payloads, and a GitHub that others wrote. Usage: install.sh FOLDER; then set EXPLAINBOT_NODE_PACKAGES=FOLDER.
# Needs Node 20 or newer and npm; about 400 MB. emulate has to be pinned: the newest package of that name is another one.
set -eu
folder=${1:?usage: install.sh FOLDER}
packages="@octokit/openapi@23.0.2 @octokit/webhooks-examples@7.6.1 emulate@0.12.2"
mkdir -p "$folder"
if [ "$(cat "$folder/.packages" 2>/dev/null)" != "$packages" ]; then
    # shellcheck disable=SC2086 # the list is to be split
    npm install --no-save --no-package-lock --no-audit --no-fund --ignore-scripts --loglevel=error --prefix "$folder" $packages
    printf '%s' "$packages" >"$folder/.packages"
fi
