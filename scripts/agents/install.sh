#!/usr/bin/env bash
# Installs the agents as npm gives them, into .tools/agents: scripts/agents/install.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
tools=.tools/agents

rm -rf "$tools"
mkdir -p "$tools"
cp scripts/agents/package.json "$tools"
# No package runs a script of its own, but for the two that put a binary for this machine in its place.
npm install --prefix "$tools" --silent --no-package-lock --no-audit --no-fund --ignore-scripts
(cd "$tools/node_modules/@anthropic-ai/claude-code" && node install.cjs)
(cd "$tools/node_modules/opencode-ai" && node postinstall.mjs)
touch "$tools/ready"
