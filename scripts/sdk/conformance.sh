#!/usr/bin/env bash
# The protocol's own conformance suite against /mcp: QUIPU_URL=http://127.0.0.1:4777 scripts/sdk/conformance.sh NODE ROOT, a Node.js 22.19 and
# the root of that server, which gets a skill.
#
# Quipu itself gets the scenarios about what it is. All scenarios of a revision run against a server with the tools, prompts and resources that
# the suite expects, behind the same door (crates/mcp/examples/conformance.rs); conformance.yaml has what this door cannot do. Extensions
# that Quipu does not declare, tasks and directories of skills, are left out.
set -euo pipefail
cd "$(dirname "$0")/../.."
suite=("$1" .tools/sdk/node_modules/@modelcontextprotocol/conformance/dist/index.js server)

skill=$2/memory/default/default/agents/assistant/skills/tidy-up
mkdir -p "$skill"
printf -- '---\nname: tidy-up\ndescription: "Tidies a folder: asks first."\nstatus: approved\n---\n\n1. Ask.\n' >"$skill/SKILL.md"
curl --silent --fail --request POST "$QUIPU_URL/api/v2/index/sync" >/dev/null

report=$(mktemp)
trap 'rm -f "$report"' EXIT
run() {
  if ! "${suite[@]}" "$@" >"$report" 2>&1; then
    cat "$report" >&2
    echo "conformance: failed: $*" >&2
    exit 1
  fi
}
check() {
  local version=$1
  shift
  for scenario in "$@"; do
    run --url "$QUIPU_URL/mcp" ${version:+--spec-version "$version"} --scenario "$scenario"
  done
  echo "conformance ${version:-extensions}: $*: well"
}
check 2025-06-18 server-initialize ping tools-list resources-list prompts-list
check 2025-11-25 server-initialize ping tools-list resources-list prompts-list dns-rebinding-protection
check 2026-07-28 tools-list resources-list prompts-list dns-rebinding-protection caching http-header-validation \
  sep-2164-resource-not-found
check "" sep-2640-skills-enumeration sep-2640-skills-manifest

# `make test` builds it, `make build` does not. It ends with its input, which ends with this script.
fixtures=target/debug/examples/conformance
[ -x "$fixtures" ] || "${CARGO:-cargo}" build --quiet --locked --package mcp --example conformance
coproc server { exec "$fixtures"; }
read -r url <&"${server[0]}"
for version in 2025-06-18 2025-11-25 2026-07-28; do
  run --url "$url" --spec-version "$version" --suite all --expected-failures scripts/sdk/conformance.yaml
  echo "conformance $version, with fixtures: $(grep -c '^=== Running' "$report") scenarios: well"
done
