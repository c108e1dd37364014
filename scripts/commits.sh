#!/usr/bin/env bash
# Each commit can be built, not the last one alone: scripts/commits.sh BASE, the commit before the first new one.
# Cargo reads the manifests of all of them, and checks the crates that do not need LanceDB in as many of the newest as fit into
# seven minutes. HEAD is left to clippy and the tests. Works in a worktree of its own, in one folder, so that builds are shared.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo=${CARGO:-cargo}
# Some commits before this one cannot be read.
first=5df62cce417b8c521c9c79d705eeb5a26660690d
bound=420

new=("$1..HEAD")
if git cat-file -e "$first^{commit}" 2>/dev/null; then
  new+=("^$first")
fi
mapfile -t commits < <(git rev-list --topo-order "${new[@]}")
scratch=$(mktemp -d)
trap 'git worktree remove --force "$scratch/tree" 2>/dev/null; rm -rf "$scratch"; git worktree prune' EXIT
git worktree add --quiet --detach "$scratch/tree" HEAD
# Never the folder of the tests: another commit would be built there.
target=$PWD/target/commits
failed=0

at() { # COMMIT COMMAND…
  git -C "$scratch/tree" checkout --quiet --detach "$1"
  (cd "$scratch/tree" && CARGO_TARGET_DIR=$target CARGO_PROFILE_DEV_DEBUG=false "${@:2}")
}
says() { git log -1 --format='%h %s' "$1"; }

for commit in "${commits[@]}"; do
  if ! at "$commit" "$cargo" metadata --no-deps --format-version 1 >/dev/null; then
    echo "cargo cannot read this commit; repair it in the commit itself: $(says "$commit")" >&2
    failed=1
  fi
done
if [ "$failed" -ne 0 ]; then
  exit 1
fi
SECONDS=0
checked=0
for commit in "${commits[@]:1}"; do
  left=$((bound - SECONDS))
  if [ "$left" -le 0 ]; then
    break
  fi
  ended=0
  at "$commit" timeout "$left" "$cargo" check --quiet --locked --workspace --exclude index --exclude quipu --exclude protoc || ended=$?
  if [ "$ended" -eq 124 ]; then
    break
  elif [ "$ended" -ne 0 ]; then
    echo "this commit does not build; repair it in the commit itself: $(says "$commit")" >&2
    failed=1
  else
    checked=$((checked + 1))
  fi
done
echo "${#commits[@]} new commits can be read; $checked of those before HEAD build, as many as $bound s were enough for"
exit "$failed"
