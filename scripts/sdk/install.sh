#!/usr/bin/env bash
# Installs the clients as PyPI and npm give them, into .tools/sdk: scripts/sdk/install.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
tools=.tools/sdk

rm -rf "$tools"
mkdir -p "$tools"
cp scripts/sdk/package.json "$tools"

# aider pins what it stands on, so it stands alone. uv needs seconds where pip needs minutes.
python3 -m venv "$tools/uv"
"$tools/uv/bin/pip" install --quiet --disable-pip-version-check uv==0.13.9
into() {
  "$tools/uv/bin/uv" venv --quiet --no-python-downloads --python python3 "$tools/$1"
  "$tools/uv/bin/uv" pip install --quiet --no-build --python "$tools/$1/bin/python" --requirement "scripts/sdk/$2"
}
into venv requirements.txt
into aider aider.txt
into mcp mcp.txt
into memory memory.txt
# It is Python alone, and works with older ones than it asks for.
"$tools/uv/bin/uv" pip install --quiet --no-build --no-deps --python "$tools/memory/bin/python" --python-version 3.12 everos-cloud==1.2.0

# No package runs a script of its own, but for the two that put a binary for this machine in its place.
npm install --prefix "$tools" --silent --no-package-lock --no-audit --no-fund --ignore-scripts
(cd "$tools/node_modules/@anthropic-ai/claude-code" && node install.cjs)
(cd "$tools/node_modules/opencode-ai" && node postinstall.mjs)
touch "$tools/ready"
