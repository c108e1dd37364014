#!/usr/bin/env bash
# This repository's own packages for Python and TypeScript: generated files are up to date, types hold, and the packages and the examples of their
# READMEs work with the real libraries and a real server: scripts/sdk/own.sh QUIPU, the path of a binary. `make sdk` installs the libraries first.
set -euo pipefail
cd "$(dirname "$0")/../.."
quipu=$(realpath "$1")
tools=$PWD/.tools/sdk
python=$tools/venv/bin/python

scripts/sdk/generate.sh --check

# Installed as their users install them.
"$tools/uv/bin/uv" build --quiet --wheel --clear --out-dir "$tools/wheel" sdk/python
"$tools/uv/bin/uv" pip install --quiet --no-deps --reinstall --python "$python" "$tools"/wheel/*.whl
rm -rf "$tools/package" "$tools/node_modules/quipu-memory"
cp -r sdk/typescript "$tools/package"
"$tools/node_modules/.bin/tsc" --project "$tools/package"
npm pack --silent --pack-destination "$tools/package" "$tools/package" >/dev/null
mkdir "$tools/node_modules/quipu-memory"
tar --extract --file "$tools"/package/*.tgz --strip-components 1 --directory "$tools/node_modules/quipu-memory"

(cd sdk/python && "$python" -m mypy --no-error-summary src)
"$python" -W ignore scripts/sdk/own.py "$quipu"
# A module is looked for beside the file that names it.
cp scripts/sdk/own.mjs "$tools"
node "$tools/own.mjs" "$quipu"
"$python" scripts/sdk/examples.py "$quipu"
