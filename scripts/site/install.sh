#!/usr/bin/env bash
# Installs what builds the site, as PyPI gives it, into .tools/site: scripts/site/install.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
tools=.tools/site

rm -rf "$tools"
python3 -m venv "$tools/venv"
"$tools/venv/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: --requirement scripts/site/requirements.txt
touch "$tools/ready"
