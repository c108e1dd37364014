#!/usr/bin/env bash
# Installs what drives the browser, as npm gives it, into .tools/page: scripts/page/install.sh. The browser is the system's (`chromium`).
set -euo pipefail
cd "$(dirname "$0")/../.."
tools=.tools/page

rm -rf "$tools"
mkdir -p "$tools"
cp scripts/page/package.json "$tools"
PUPPETEER_SKIP_DOWNLOAD=1 npm install --prefix "$tools" --silent --no-package-lock --no-audit --no-fund --ignore-scripts
touch "$tools/ready"
