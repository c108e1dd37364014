#!/usr/bin/env bash
# Writes a root as a binary leaves it, in the form of crates/cli/tests/roots: scripts/root_fixture.sh QUIPU FOLDER. Needs sqlite3.
set -euo pipefail

quipu=$(realpath "$1")
folder=$2
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

# The messages that no episode has yet stay so, however long ago they were said.
printf '[memory]\ntimezone = "UTC"\n[consolidation]\nidle_seconds = 4000000000\n' >"$root/quipu.toml"
run() { "$quipu" --root "$root" "$@" >/dev/null; }
say() { run add --user ana "$@"; }

say --at 2024-03-01T10:00 --session home "I live in Berlin with my sister Mia."
say --at 2024-03-01T10:01 --session home --role assistant "Noted: Berlin, with Mia."
say --at 2025-08-01T08:00 --session hives --flush "I keep bees in Ghent."
say --at 2025-09-01T09:00 --session move --flush "I moved to Lisbon. I adopted a parrot named Kiko."
say --at 2025-09-02T09:00 --session code --flush --id code-1 "My alarm code is Zebra-4711."
run forget --user ana --session code --yes
run add --user ben --project boat --at 2025-10-05T20:00 --session sails --flush "I sail a Folkboat called Marula on Sundays."
run runs start extract_user_profile
printf '\n- My brother is called Tom.\n' >>"$root/memory/default/default/users/ana/facts/2025-09-01.md"
run sync

mkdir -p "$folder"
cp -r "$root/memory" "$root/memory.id" "$root/quipu.toml" "$folder"
rm -rf "$folder/memory/.git" "$folder/memory/.locks"
version=$(sqlite3 "$root/ledger.sqlite" 'PRAGMA user_version')
{
  echo "-- What version $version of the ledger held in this root. Never edited: it stands for roots out there."
  sqlite3 "$root/ledger.sqlite" .dump
  echo "PRAGMA user_version = $version;"
} >"$folder/ledger.sql"
: >"$folder/answers.txt"
while IFS= read -r line; do
  echo "$ quipu $line"
  eval "\"$quipu\" --root \"$root\" $line"
  echo
done >"$folder/answers.txt" <<'LINES'
search --user ana "Where does Ana live?"
search --user ana "What is the parrot called?"
search --user ana Tom
search --user ben --project boat Folkboat
get --user ana
get --user ana --kind fact
get --user ana --kind profile
status users
LINES
