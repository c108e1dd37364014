#!/usr/bin/env bash
# Makes every package of a binary, installs each into a clean place, and uses it: scripts/packages/run.sh QUIPU [FOLDER]
# Each must run the demo and find a sentence that it was told, within a minute from the beginning of its installation.
# FOLDER keeps the packages. Registries are asked for the packages' own dependencies.
set -euo pipefail
cd "$(dirname "$0")/../.."
top=$PWD
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "${2:-$scratch/packages}"
packages=$(cd "${2:-$scratch/packages}" && pwd)
bound=60
failed=0

# A debug build has symbols that nobody installs.
strip -o "$scratch/quipu" "$1"
python3 packaging/build.py "$scratch/quipu" "$packages"
python3 packaging/release.py "$packages"
rm "$scratch/quipu"
(cd "$packages" && shasum --algorithm 256 --check --quiet SHA256SUMS && ls -l | awk 'NR > 1 { printf "%10.1f MB  %s\n", $5 / 1e6, $9 }')

# A command with nothing of this machine's settings but the certificates that its network needs.
alone() {
  env -i HOME="$scratch/alone" PATH="$1:/usr/bin:/bin" TMPDIR="$scratch" ${SSL_CERT_FILE:+SSL_CERT_FILE="$SSL_CERT_FILE"} "${@:2}"
}
uses() { # NAME PATH COMMAND…
  local name=$1 path=$2 root=$scratch/root
  shift 2
  rm -rf "$root"
  alone "$path" "$@" --root "$root" add --user ana --flush "My lighthouse keeper is called Ferdinand Quint." >/dev/null
  alone "$path" "$@" --root "$root" search --user ana "What is the lighthouse keeper called?" | grep -q "Ferdinand Quint"
  local seconds=$((SECONDS - begun))
  alone "$path" "$@" demo --quiet | grep --count "Biscuit" >/dev/null
  echo "$name: remembered and found $seconds s after the beginning of the installation; the demo runs"
  if [ "$seconds" -gt "$bound" ]; then
    echo "$name: more than $bound s" >&2
    failed=1
  fi
}
mkdir "$scratch/alone"
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -1)
triple=$(rustc -vV | sed -n 's/^host: //p')

begun=$SECONDS
tar --extract --gzip --file "$packages/quipu-$version-$triple.tar.gz" --directory "$scratch"
uses archive "$scratch/quipu-$version-$triple" quipu
rm -r "$scratch/quipu-$version-$triple"

python3 -m venv "$scratch/venv"
begun=$SECONDS
# By its name, from the folder: pip must choose the wheel with the binary.
"$scratch/venv/bin/pip" install --quiet --disable-pip-version-check --find-links "$packages" "quipu-memory==$version"
uses wheel "$scratch/venv/bin" quipu
alone /nowhere "$scratch/venv/bin/python" scripts/packages/started.py "$scratch/started"
rm -rf "$scratch/venv"

python3 -m venv "$scratch/uv"
"$scratch/uv/bin/pip" install --quiet --disable-pip-version-check uv==0.13.9
begun=$SECONDS
uses uvx "$scratch/uv/bin" uvx --find-links "$packages" --from "quipu-memory==$version" quipu
rm -rf "$scratch/uv" "$scratch/alone/.cache"

begun=$SECONDS
npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$scratch/npm" "$packages"/quipu-memory-*.tgz
node=$(dirname "$(command -v node)")
uses npm "$scratch/npm/node_modules/.bin:$node" quipu
cp scripts/packages/started.mjs "$scratch/npm"
alone "$node" node "$scratch/npm/started.mjs" "$scratch/started"
rm -rf "$scratch/npm"

if command -v dpkg >/dev/null && ! command -v quipu >/dev/null && { [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null; }; then
  sudo=$([ "$(id -u)" = 0 ] || echo sudo)
  begun=$SECONDS
  $sudo dpkg --install "$packages"/quipu_*.deb >/dev/null
  trap '$sudo dpkg --purge quipu >/dev/null; rm -rf "$scratch"' EXIT
  uses deb /usr/bin quipu
  scripts/packages/unit.sh
  $sudo dpkg --purge quipu >/dev/null
  trap 'rm -rf "$scratch"' EXIT
  if command -v quipu >/dev/null || [ -e /usr/lib/systemd/system/quipu.service ]; then
    echo "deb: a purge leaves files" >&2
    failed=1
  fi
else
  echo "deb: not tried; it needs dpkg, root, and no quipu that is installed"
fi

scripts/packages/container.sh "$packages/quipu-$version-$triple.tar.gz" || failed=1

if command -v ruby >/dev/null; then
  ruby -c packaging/homebrew/quipu.rb >/dev/null && echo "homebrew: the formula is Ruby"
fi

begun=$SECONDS
make --silent install PREFIX="$scratch/prefix" BINARY="$1"
uses "make install" "$scratch/prefix/bin" quipu
exit "$failed"
