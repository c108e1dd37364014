#!/usr/bin/env bash
# The container from the binary of an archive: scripts/packages/container.sh ARCHIVE
# Where Docker runs, it is built, becomes healthy and is used. Elsewhere root tries the binary in a folder with the base's libraries alone.
set -euo pipefail
cd "$(dirname "$0")/../.."
scratch=$(mktemp -d)
name=quipu-try-$$
trap 'docker rm --force "$name" >/dev/null 2>&1 || true; rm -rf "$scratch"' EXIT
mkdir -p "$scratch/build/data"
tar --extract --gzip --file "$1" --directory "$scratch/build" --strip-components 1 --wildcards '*/quipu'
words="My lighthouse keeper is called Ferdinand Quint."

if docker info >/dev/null 2>&1; then
  docker build --quiet --tag "$name" --build-context build="$scratch/build" . >/dev/null
  docker run --detach --name "$name" --read-only --cap-drop ALL --env QUIPU_TOKEN=a-token-to-try "$name" >/dev/null
  for _ in $(seq 60); do
    [ "$(docker inspect --format '{{.State.Health.Status}}' "$name")" != healthy ] || break
    sleep 1
  done
  [ "$(docker inspect --format '{{.State.Health.Status}}' "$name")" = healthy ]
  docker exec "$name" /usr/bin/quipu add --user ana --flush "$words" >/dev/null
  docker exec "$name" /usr/bin/quipu search --user ana "What is the keeper called?" | grep -q "Ferdinand Quint"
  docker rm --force "$name" >/dev/null
  docker image rm "$name" >/dev/null
  echo "container: healthy, remembers and finds, read-only and without capabilities"
  exit 0
fi
[ "$(id -u)" = 0 ] || { echo "container: not tried; it needs Docker or root"; exit 0; }

# What gcr.io/distroless/cc has of libraries, from this system.
mkdir -p "$scratch/base"/{usr/bin,data,tmp,proc,dev}
cp "$scratch/build/quipu" "$scratch/base/usr/bin"
for library in $(ldd "$scratch/build/quipu" | grep -oE '/[^ ]+'); do
  case $(basename "$library") in
    ld-linux-* | libc.so.* | libm.so.* | libgcc_s.so.* | libstdc++.so.* | libgomp.so.*) install -D "$library" "$scratch/base$library" ;;
  esac
done
chmod 1777 "$scratch/base/tmp"
chown 65532:65532 "$scratch/base/data"
chmod 0755 "$scratch" "$scratch/base"
inside=(
  env -i QUIPU_ROOT=/data QUIPU_SERVER__LISTEN=127.0.0.1:47770 QUIPU_SERVER__TOKENS='[{ secret = "env:QUIPU_TOKEN" }]' QUIPU_TOKEN=a-token-to-try
  "$(PATH=$PATH:/usr/sbin command -v chroot)" --userspec=65532:65532 "$scratch/base" /usr/bin/quipu
)
"${inside[@]}" serve >/dev/null &
server=$!
trap 'kill "$server" 2>/dev/null || true; wait "$server" || true; rm -rf "$scratch"' EXIT
until [ -e "$scratch/base/data/serving.addr" ]; do
  kill -0 "$server"
  read -r -t 0.1 <> <(:) || true
done
"${inside[@]}" status --quiet >/dev/null
"${inside[@]}" add --user ana --flush "$words" >/dev/null
"${inside[@]}" search --user ana "What is the keeper called?" | grep -q "Ferdinand Quint"
echo "container: not built, Docker does not run here; the binary, its health check and a token work as user 65532 beside the base's libraries alone"
