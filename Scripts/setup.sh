#!/bin/sh
# Prepares this machine to build beaconscan: checks for Swift, and installs missing packages on
# Debian and Ubuntu. If nothing is missing, it ends at once.
#
#   Scripts/setup.sh         the requirements of building and testing
#   Scripts/setup.sh --ci    also those of .ci/run
set -eu

say() { printf '%s\n' "$*"; }
fail() { printf 'setup: %s\n' "$*" >&2; exit 1; }

extra=no
case "${1-}" in
  '') ;;
  --ci) extra=yes ;;
  *) fail "unknown argument '$1'; the only one is --ci" ;;
esac

# Packages

has_header() {
  for directory in /usr/include /usr/local/include; do
    [ -e "$directory/$1" ] && return 0
  done
  if command -v pkg-config >/dev/null 2>&1 && pkg-config --exists "$2"; then return 0; fi
  command -v cc >/dev/null 2>&1 && printf '#include <%s>\n' "$1" | cc -E - >/dev/null 2>&1
}

has_certificates() {
  for file in /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt \
    /etc/ssl/cert.pem /etc/ssl/ca-bundle.pem; do
    [ -e "$file" ] && return 0
  done
  [ -n "${SSL_CERT_FILE-}" ]
}

missing=''
has_header zlib.h zlib || missing="$missing zlib1g-dev"
has_header bluetooth/hci.h bluez || missing="$missing libbluetooth-dev"
has_header sqlite3.h sqlite3 || missing="$missing libsqlite3-dev"
command -v pkg-config >/dev/null 2>&1 || missing="$missing pkg-config"
has_header mosquitto.h libmosquitto || missing="$missing libmosquitto-dev"
has_header amqp.h librabbitmq || missing="$missing librabbitmq-dev"
has_header postgresql/libpq-fe.h libpq || missing="$missing libpq-dev"
has_header curl/curl.h libcurl || missing="$missing libcurl4-openssl-dev"
has_header openssl/hmac.h libcrypto || missing="$missing libssl-dev"
command -v dbus-daemon >/dev/null 2>&1 || missing="$missing dbus"
command -v git >/dev/null 2>&1 || missing="$missing git"
command -v gzip >/dev/null 2>&1 || missing="$missing gzip"
command -v tmux >/dev/null 2>&1 || missing="$missing tmux"
has_certificates || missing="$missing ca-certificates"
if [ "$extra" = yes ]; then
  command -v python3 >/dev/null 2>&1 || missing="$missing python3"
  python3 -c 'import ensurepip, venv' >/dev/null 2>&1 || missing="$missing python3-venv"
  command -v mandoc >/dev/null 2>&1 || missing="$missing mandoc"
  command -v zsh >/dev/null 2>&1 || missing="$missing zsh"
  # For Tests/Checks/integrations.py and Scripts/package.sh.
  command -v curl >/dev/null 2>&1 || missing="$missing curl"
  command -v jq >/dev/null 2>&1 || missing="$missing jq"
  command -v node >/dev/null 2>&1 || missing="$missing nodejs"
  # Ubuntu does not have a package of Chromium.
  if grep -q '^ID=debian' /etc/os-release 2>/dev/null; then
    command -v chromium-headless-shell >/dev/null 2>&1 || command -v chromium >/dev/null 2>&1 ||
      missing="$missing chromium-headless-shell"
  fi
  # The daemons of LocationSourcesTests.
  command -v gpsd >/dev/null 2>&1 || [ -x /usr/sbin/gpsd ] || missing="$missing gpsd"
  command -v gpsfake >/dev/null 2>&1 || missing="$missing gpsd-clients"
  [ -x /usr/libexec/geoclue ] || missing="$missing geoclue-2.0"
  [ -x /usr/sbin/iio-sensor-proxy ] || [ -x /usr/libexec/iio-sensor-proxy ] || missing="$missing iio-sensor-proxy"
  command -v umockdev-wrapper >/dev/null 2>&1 || missing="$missing umockdev"
  # The broker of BrokerLinkTests, and the certificates of its tests.
  command -v mosquitto >/dev/null 2>&1 || [ -x /usr/sbin/mosquitto ] || missing="$missing mosquitto"
  command -v mosquitto_sub >/dev/null 2>&1 || missing="$missing mosquitto-clients"
  command -v openssl >/dev/null 2>&1 || missing="$missing openssl"
  # The node of FleetEngineTests.
  [ -x /usr/lib/rabbitmq/bin/rabbitmq-server ] || missing="$missing rabbitmq-server"
  # For Tests/Checks/fleet-thief.py.
  /usr/bin/python3 -c 'import pika' >/dev/null 2>&1 || missing="$missing python3-pika"
  # The server of FleetHistoryTests.
  ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || missing="$missing postgresql"
  # The daemon of AppDaemonTests.
  [ -x /usr/lib/polkit-1/polkitd ] || missing="$missing polkitd"
  # The desktop that asks for beaconscan agent.
  command -v dunst >/dev/null 2>&1 || missing="$missing dunst"
  command -v Xvfb >/dev/null 2>&1 || missing="$missing xvfb"
  command -v debootstrap >/dev/null 2>&1 || missing="$missing debootstrap"
  command -v dpkg-shlibdeps >/dev/null 2>&1 || missing="$missing dpkg-dev"
  command -v lintian >/dev/null 2>&1 || missing="$missing lintian"
fi
missing=${missing# }

if [ -n "$missing" ]; then
  if ! command -v apt-get >/dev/null 2>&1; then
    fail "missing: $missing (names of Debian and Ubuntu). Install them with your system's package" \
      "manager, then run this again."
  fi
  # $missing is a list of words.
  if [ "$(id -u)" = 0 ]; then
    as_root=''
  elif command -v sudo >/dev/null 2>&1 && sudo -n true >/dev/null 2>&1; then
    as_root='sudo -n'
  else
    fail "missing: $missing. Run: sudo apt-get install --no-install-recommends $missing"
  fi
  say "Installing $missing …"
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  install() {
    # shellcheck disable=SC2086
    $as_root env DEBIAN_FRONTEND=noninteractive \
      apt-get install -y --no-install-recommends $missing >"$log" 2>&1 </dev/null
  }
  # Package lists may be missing or stale.
  if ! install; then
    $as_root apt-get update >"$log" 2>&1 </dev/null || { cat "$log" >&2; fail 'apt-get update failed'; }
    install || { cat "$log" >&2; fail "apt-get could not install $missing"; }
  fi
  say 'Installed.'
fi

# Swift

how='Install Swift 6.2 or later: https://www.swift.org/install/linux has the steps; then open a new
shell, so that the command swift is found, and run this again.'
if ! command -v swift >/dev/null 2>&1; then
  fail "there is no swift on this machine's PATH. $how"
fi
version=$(swift --version 2>/dev/null |
  sed -n 's/.*Swift version \([0-9][0-9]*\)\.\([0-9][0-9]*\).*/\1 \2/p' | head -n 1)
[ -n "$version" ] || fail "'swift --version' does not say a version. $how"
major=${version% *}
minor=${version#* }
if [ "$major" -lt 6 ] || { [ "$major" -eq 6 ] && [ "$minor" -lt 2 ]; }; then
  fail "this is Swift $major.$minor. $how"
fi
