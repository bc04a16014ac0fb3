#!/bin/bash
# Runs in the system that Scripts/package.sh --check boots: starts the installed beaconscan.service with a command that
# calls a web hook, with and without the drop-in that permits the network; starts beaconscan-serve.service, asks it,
# stops and kills it in every way, also by its sockets; and removes the package while both services run.
set -u
echo booted
fail() {
  echo "failed: $*"
  systemctl status --no-pager beaconscan beaconscan-serve beaconscan-serve.socket 2>&1 | head -n 60
  journalctl --no-pager -n 20 -u beaconscan-serve 2>&1
  exit 1
}
# look WHAT COMMAND: waits for a condition.
look() {
  local count
  for count in $(seq 600); do
    eval "$2" >/dev/null 2>&1 && return
    sleep 0.1
  done
  fail "$1"
}

# A server that writes down the first line of each request.
cat >/etc/systemd/system/hook.socket <<'UNIT'
[Socket]
ListenStream=127.0.0.1:8123
Accept=yes
UNIT
cat >/etc/systemd/system/hook@.service <<'UNIT'
[Service]
StandardInput=socket
ExecStart=/bin/bash -c 'read -r line; echo "$line" >>/hook.log; printf "HTTP/1.0 200 OK\\r\\n\\r\\n"'
UNIT
# /options has the line of docs/installation.md.
sed 's|"$| --replay /usr/share/beaconscan/captures/visitor.btsnoop"|' /options >/etc/beaconscan.conf
drop_in=/etc/systemd/system/beaconscan.service.d
mkdir -p "$drop_in"
printf '[Service]\nStandardError=file:/errors\n' >"$drop_in/errors.conf"
systemctl daemon-reload
systemctl start hook.socket || fail 'the hook does not start'

# What version 0.1.0 left is taken over.
mkdir -p -m 700 /var/lib/private/beaconscan
ln -s private/beaconscan /var/lib/beaconscan
touch /var/lib/private/beaconscan/old
systemctl start beaconscan || fail 'the service does not start'
[ "$(stat -c %U:%a:%F /var/lib/beaconscan)" = beaconscan:700:directory ] || fail 'the state is not its user'\''s'
[ "$(stat -c %U /var/lib/beaconscan/old)" = beaconscan ] || fail 'the state of version 0.1.0 is lost'
look 'the unit does not forbid curl the network' 'grep -q "^curl: (7)" /errors'
[ ! -e /hook.log ] || fail 'the unit lets curl through'
# The recording has an end, so the service starts again and again: what failed once stays failed.
[ "$(systemctl show -P ExecMainStatus beaconscan)" = 0 ] || fail 'the service does not end well'
systemctl stop beaconscan
rm -r /var/lib/beaconscan

cp /drop-in "$drop_in/network.conf"
systemctl daemon-reload
systemctl start beaconscan || fail 'the service does not start with the drop-in'
look 'the drop-in does not let curl through' 'grep -q "^POST /api/webhook/visitor" /hook.log'


# The service for programs. Its drop-in only shortens what is waited for.
mkdir -p /etc/systemd/system/beaconscan-serve.service.d
printf '[Service]\nWatchdogSec=3\n' >/etc/systemd/system/beaconscan-serve.service.d/trial.conf
region() { printf '[region.%s]\nuuid = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"\n' "$1"; }
cat >/etc/beaconscan.toml <<TOML
[serve]
replay = "/usr/share/beaconscan/captures/visitor.btsnoop"
speed = "20x"
$(region kiosk)
TOML
systemctl daemon-reload
show() { systemctl show -P "$1" beaconscan-serve; }
get() { curl -sf "http://127.0.0.1:8732/api/v1/$1"; }
stored() { beaconscan history --format json | grep "\"type\":\"enter\".*\"region\":\"$1\""; }
# restarted NUMBER: it has been started again so often, and answers.
restarted() { [ "$(show NRestarts)" = "$1" ] && [ "$(show ActiveState)" = active ] && get health; }

# It is active when it listens, and not before.
systemctl start beaconscan-serve || fail 'serve does not start'
get health >/dev/null || fail 'serve was active before it listened'
[ "$(show StatusText)" = Serving ] || fail 'serve did not report that it is ready'
process=$(show MainPID)
[ "$(stat -c %U:%G "/proc/$process")" = beaconscan:beaconscan ] || fail 'serve has another user'
[ "$(sed -n 's/^Cap\(Prm\|Eff\|Bnd\):\t//p' "/proc/$process/status" | sort -u)" = 0000000000002000 ] ||
  fail 'serve has other capabilities than CAP_NET_RAW'
curl -sf http://127.0.0.1:8732/metrics | grep -q '^beaconscan_packets_total ' || fail 'there are no metrics'
curl -sf http://127.0.0.1:8732/ | grep -q '<html' || fail 'there is no page'
look 'the history has no entry' 'stored kiosk'
first=$(stored kiosk)
[ "$(stat -c %U:%a /var/lib/beaconscan/history.sqlite)" = beaconscan:600 ] || fail 'others may read the history'
# Each message has its level, and not in its text.
look 'the journal has no message of serve' 'journalctl -u beaconscan-serve -p notice -o cat | grep "^serving on http"'

# It reads its configuration again, and goes on.
region all >>/etc/beaconscan.toml
systemctl reload beaconscan-serve || fail 'serve cannot be reloaded'
look 'serve did not read its configuration again' 'get regions | grep "\"name\":\"all\""'
[ "$(show MainPID)" = "$process" ] && [ "$(show ActiveState)" = active ] || fail 'serve did not survive to be reloaded'
echo '[region.all' >>/etc/beaconscan.toml
systemctl reload beaconscan-serve || fail 'serve cannot be reloaded with a fault'
look 'the fault has no level' 'journalctl -u beaconscan-serve -p err -o cat | grep "stays as it was"'
sed -i '$d' /etc/beaconscan.toml
get regions | grep -q '"name":"all"' || fail 'a fault removed a region'

# A process that stands still is replaced, and so is one that is killed; what was stored stays, and more is added.
systemctl kill -s STOP --kill-who=main beaconscan-serve
look 'the watchdog does not see that serve stands still' 'restarted 1'
systemctl kill -s KILL --kill-who=main beaconscan-serve
look 'serve is not started again' 'restarted 2'
look 'the history does not go on' 'stored all'
[ "$(stored kiosk | head -n 1)" = "$first" ] || fail 'the history lost an entry'

began=$(date +%s%N)
systemctl stop beaconscan-serve || fail 'serve cannot be stopped'
ended=$(($(date +%s%N) - began))
echo "serve stopped after $((ended / 1000000)) ms"
[ "$(show Result):$(show ExecMainStatus)" = success:0 ] || fail 'serve does not end well'
[ "$ended" -lt 5000000000 ] || fail 'serve does not end soon'
stored kiosk >/dev/null || fail 'root cannot read the history of a service that is stopped'

# Wrong options are reported, and not tried again.
echo 'BEACONSCAN_SERVE_OPTIONS=--nonsense' >>/etc/beaconscan.conf
systemctl start beaconscan-serve 2>/dev/null && fail 'serve starts with a wrong option'
[ "$(show ActiveState):$(show ExecMainStatus)" = failed:64 ] || fail 'serve is started again with a wrong option'
sed -i '$d' /etc/beaconscan.conf
systemctl reset-failed beaconscan-serve

# A connection starts it, over TCP or the Unix socket, which is for its group; also after it was stopped.
useradd --system --groups beaconscan kiosk
as() { runuser -u "$1" -- curl -sf --max-time 60 --unix-socket "$2" http://localhost/api/v1/health; }
systemctl start beaconscan-serve.socket || fail 'the sockets cannot be made'
[ "$(show ActiveState)" = inactive ] || fail 'the sockets start serve before a connection'
as nobody /run/beaconscan/http.sock && fail 'a user outside the group may connect'
as kiosk /run/beaconscan/http.sock | grep -q '"receiving"' || fail 'a connection to the Unix socket does not start serve'
get health >/dev/null || fail 'serve does not use both sockets'
systemctl stop beaconscan-serve 2>/dev/null
curl -sf --max-time 60 http://127.0.0.1:8732/api/v1/health >/dev/null || fail 'a connection does not start serve again'
as kiosk /run/beaconscan/http.sock >/dev/null || fail 'the Unix socket is lost'
as nobody /run/beaconscan/http.sock && fail 'a user outside the group may connect to the service'
# Connections wait while it is started again.
systemctl kill -s KILL --kill-who=main beaconscan-serve
as kiosk /run/beaconscan/http.sock >/dev/null || fail 'a connection does not wait for the next start'
systemctl stop beaconscan-serve.socket beaconscan-serve

# Without these sockets it makes one itself.
echo 'BEACONSCAN_SERVE_OPTIONS=--listen 8732 --listen /run/beaconscan/own.sock' >>/etc/beaconscan.conf
systemctl start beaconscan-serve || fail 'serve does not start with a Unix socket'
as kiosk /run/beaconscan/own.sock >/dev/null || fail 'the group cannot connect to the socket that serve made'
as nobody /run/beaconscan/own.sock && fail 'others can connect to the socket that serve made'
systemctl stop beaconscan-serve
sed -i '$d' /etc/beaconscan.conf

# Both services at once, until the package is removed.
systemctl enable beaconscan beaconscan-serve.socket beaconscan-serve 2>/dev/null
systemctl start beaconscan beaconscan-serve.socket beaconscan-serve || fail 'the services do not start together'
[ -e /var/lib/beaconscan/regions ] && [ -e /var/lib/beaconscan/history.sqlite ] || fail 'the services keep no state'
apt() { DEBIAN_FRONTEND=noninteractive apt-get "$@" -y beaconscan >/dev/null 2>&1; }
apt remove || fail 'it cannot be removed'
for unit in beaconscan.service beaconscan-serve.service beaconscan-serve.socket beaconscan-apps.socket; do
  [ ! -e "/usr/lib/systemd/system/$unit" ] || fail "$unit is still there"
  case $(systemctl is-active "$unit") in inactive | failed) ;; *) fail "$unit is still active" ;; esac
  [ -z "$(find /etc/systemd/system -name "$unit")" ] || fail "$unit is still enabled"
done
curl -s http://127.0.0.1:8732/ >/dev/null && fail 'something still answers'
[ ! -e /run/beaconscan ] || fail '/run/beaconscan is still there'
[ -e /var/lib/beaconscan/history.sqlite ] || fail 'removing, without purging, removed the history'
apt purge || fail 'it cannot be purged'
rm -rf /etc/systemd/system/beaconscan*.d /etc/beaconscan.conf /etc/beaconscan.toml
systemctl daemon-reload
left=$(find / -xdev -name '*beaconscan*' -not -path '/var/cache/*' -not -path '/var/lib/apt/*' -not -path '/tmp/*')
[ -z "$left" ] || fail "this is left: $left"
grep -s beaconscan /etc/passwd /etc/group /etc/shadow /etc/gshadow && fail 'the user is left'
orphans=$(find / -xdev \( -nouser -o -nogroup \) -not -path '/proc/*')
[ -z "$orphans" ] || fail "this belongs to nobody: $orphans"
echo passed
