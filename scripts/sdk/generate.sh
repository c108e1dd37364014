#!/usr/bin/env bash
# Writes what the packages in sdk/ take from docs/openapi.json: scripts/sdk/generate.sh [--check], which writes nothing and fails if a file is
# not up to date. `make sdk` installs the generator.
set -euo pipefail
cd "$(dirname "$0")/../.."

python3 sdk/python/generate.py "$@"
api=sdk/typescript/src/api.ts
new=$(mktemp)
trap 'rm -f "$new"' EXIT
.tools/sdk/node_modules/.bin/openapi-typescript docs/openapi.json --default-non-nullable=false --empty-objects-unknown 2>/dev/null |
  unexpand --first-only --tabs 4 >"$new"
if [ "${1:-}" != --check ]; then
  cat "$new" >"$api"
elif ! cmp --quiet "$new" "$api"; then
  echo "$api: not up to date, run \`scripts/sdk/generate.sh\`" >&2
  exit 1
fi
