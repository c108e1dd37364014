#!/usr/bin/env bash
# Writes what the packages in sdk/ take from docs/openapi.json: scripts/sdk/generate.sh [--check], which writes nothing and fails if a file is
# not up to date. `make sdk` installs the generator.
set -euo pipefail
cd "$(dirname "$0")/../.."

python3 sdk/python/generate.py "$@"
.tools/sdk/node_modules/.bin/openapi-typescript docs/openapi.json --default-non-nullable=false --empty-objects-unknown \
  --output sdk/typescript/src/api.ts "$@" >/dev/null ||
  { echo "sdk/typescript/src/api.ts: not up to date, run \`scripts/sdk/generate.sh\`" >&2; exit 1; }
