#!/bin/sh
# Checks the systemd units in Packaging: that systemd accepts them, that both services have the same restrictions except
# for the network, and that their exposure is at most 1.5 and stated in docs/installation.md. Without systemd-analyze it
# checks nothing, and reports this.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
cd "$root"

if ! command -v systemd-analyze >/dev/null 2>&1; then
  echo 'units: not checked; systemd-analyze is missing (apt-get install systemd)'
  exit 0
fi

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
# The command need not be installed here.
mkdir "$copy/user" "$copy/fleet"
for file in Packaging/*.service Packaging/*.socket Packaging/user/* Packaging/fleet/*.service; do
  sed 's%=/usr/local/bin/beaconscan\(-fleet\)\{0,1\} %=/bin/true %' "$file" >"$copy/${file#Packaging/}"
done
# One instance of a template.
mv "$copy/fleet/beaconscan-fleet-work@.service" "$copy/fleet/beaconscan-fleet-work@1.service"
grep -q '^ExecStart=/bin/true monitor ' "$copy/beaconscan.service"
grep -q '^ExecStart=/bin/true serve ' "$copy/beaconscan-serve.service"
# Each alone: a socket is verified with its service.
for unit in "$copy"/*.service "$copy"/*.socket "$copy"/user/* "$copy"/fleet/*; do
  manager=--system
  case $unit in */user/*) manager=--user ;; esac
  said=$(XDG_RUNTIME_DIR=$copy SYSTEMD_UNIT_PATH="${unit%/*}:" systemd-analyze "$manager" verify --man=no "$unit" 2>&1) || {
    echo "$said" >&2
    exit 1
  }
  if echo "$said" | grep -q 'beaconscan'; then
    echo "$said" >&2
    exit 1
  fi
done

# Their users are created, each with its own group.
# makes_user FILE NAME HOME
makes_user() {
  rm -rf "$copy/root"
  mkdir -p "$copy/root/etc"
  systemd-sysusers --root="$copy/root" - <"$1" >/dev/null 2>&1 || true
  if ! grep -q "^$2:.*:$3:/usr/sbin/nologin$" "$copy/root/etc/passwd" || ! grep -q "^$2:" "$copy/root/etc/group"; then
    echo "units: systemd-sysusers does not make the user of $1" >&2
    exit 1
  fi
}
makes_user Packaging/beaconscan.sysusers beaconscan /nonexistent
makes_user Packaging/fleet/beaconscan-fleet.sysusers beaconscan-fleet /var/lib/beaconscan-fleet

# restrictions UNIT: its restrictions, except for the network.
restrictions() {
  sed -n '/^# The only capability/,/^\[Install\]/{/^#/d;/^RestrictAddressFamilies=/d;/^IPAddress/d;p}' "Packaging/$1"
}
if [ "$(restrictions beaconscan.service)" != "$(restrictions beaconscan-serve.service)" ]; then
  echo 'units: beaconscan.service and beaconscan-serve.service have different restrictions' >&2
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
# drop_in HEADING: the first drop-in below that heading of docs/installation.md.
drop_in() {
  sed -n "/^### $1\$/,/^###/{/^\[Service\]\$/,/^\`\`\`\$/p}" docs/installation.md | sed '/^```$/,$d'
}
# The one that lets a command of --exec use the network, and that for programs and a broker on other machines.
{ cat Packaging/beaconscan.service; drop_in 'Commands that use the network'; } >"$copy/network.service"
{ cat Packaging/beaconscan-serve.service; drop_in 'Other machines'; } >"$copy/lan.service"
for file in network lan; do
  [ "$(grep -c '^IPAddressAllow=.*192\.168\.' "$copy/$file.service")" = 1 ]
done
network=$(verdict "$copy/network.service")
serve=$(verdict Packaging/beaconscan-serve.service)
lan=$(verdict "$copy/lan.service")
for figure in "$exposure" "$serve"; do
  if ! awk -v exposure="${figure% *}" 'BEGIN { exit !(exposure <= 1.5) }'; then
    echo "units: a service's exposure is '$figure'; it must be at most 1.5" >&2
    exit 1
  fi
done
for figure in "$exposure" "$admin" "$network" "$serve" "$lan"; do
  if [ -z "$figure" ] || ! grep -qF "**$figure**" docs/installation.md; then
    echo "units: a unit's exposure is '$figure', which docs/installation.md does not state" >&2
    exit 1
  fi
done
echo "units: systemd accepts the units; beaconscan's exposure is $exposure, with CAP_NET_ADMIN $admin, with the network" \
  "$network; that of beaconscan-serve is $serve, with other machines $lan"
