#!/bin/sh
# Checks Packaging/beaconscan.service: that systemd understands all of it, and that it is exposed as
# docs/installation.md gives it. Without systemd-analyze it reports so and checks nothing.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root"

if ! command -v systemd-analyze >/dev/null 2>&1; then
  echo 'service: not checked; there is no systemd-analyze here (apt-get install systemd)'
  exit 0
fi

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
# The command need not be installed here.
sed 's|=/usr/local/bin/beaconscan |=/bin/true |' Packaging/beaconscan.service >"$copy/beaconscan.service"
grep -q '^ExecStart=/bin/true monitor ' "$copy/beaconscan.service"
said=$(systemd-analyze verify --man=no "$copy/beaconscan.service" 2>&1) || {
  echo "$said" >&2
  exit 1
}
if echo "$said" | grep -q 'beaconscan\.service'; then
  echo "$said" >&2
  exit 1
fi

# Offline, systemd-analyze looks at the file alone.
verdict() {
  systemd-analyze security --offline=true --no-pager "$1" |
    sed -n 's/.*Overall exposure level for .*: \([0-9.]* [A-Z]*\).*/\1/p'
}
exposure=$(verdict Packaging/beaconscan.service)
# The drop-in of docs/installation.md, which also switches adapters on.
sed 's/=CAP_NET_RAW$/=CAP_NET_RAW CAP_NET_ADMIN/' Packaging/beaconscan.service >"$copy/admin.service"
admin=$(verdict "$copy/admin.service")
# The one that lets a command of --exec use the network.
{
  cat Packaging/beaconscan.service
  sed -n '/^### Commands that use the network$/,/^###/{/^\[Service\]$/,/^```$/p}' docs/installation.md | sed '$d'
} >"$copy/network.service"
grep -q '^IPAddressAllow=' "$copy/network.service"
network=$(verdict "$copy/network.service")
for figure in "$exposure" "$admin" "$network"; do
  if [ -z "$figure" ] || ! grep -qF "**$figure**" docs/installation.md; then
    echo "service: the unit's exposure is '$figure', which docs/installation.md does not say" >&2
    exit 1
  fi
done
echo "service: systemd takes the unit; exposure $exposure, with CAP_NET_ADMIN $admin, with the network $network"
