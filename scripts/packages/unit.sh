#!/usr/bin/env bash
# The service of the installed Debian package: valid, and little exposed: scripts/packages/unit.sh
set -euo pipefail
unit=/usr/lib/systemd/system/quipu.service
exposure_max=1.5

command -v systemd-analyze >/dev/null || { echo "unit: not tried; there is no systemd-analyze"; exit 0; }
systemd-analyze verify --man=no "$unit"
line=$(systemd-analyze security --offline=true --no-pager "$unit" | tail -1)
exposure=$(grep -oE '[0-9]+\.[0-9]+' <<<"$line")
echo "unit: valid, exposure $exposure of 10"
awk -v found="$exposure" -v max="$exposure_max" 'BEGIN { exit found > max }'
