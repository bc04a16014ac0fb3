#!/bin/bash
# Runs in the system that Scripts/package.sh --check boots: starts the installed service with a command that calls a
# web hook, with and without the drop-in that permits the network, and removes the package while the service runs.
set -u
echo booted
fail() { echo "failed: $*"; systemctl status --no-pager beaconscan 2>&1 | head -n 20; exit 1; }
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

systemctl start beaconscan || fail 'the service does not start'
look 'the unit does not forbid curl the network' 'grep -q "^curl: (7)" /errors'
[ ! -e /hook.log ] || fail 'the unit lets curl through'
# The recording has an end, so the service starts again and again: what failed once stays failed.
[ "$(systemctl show -P ExecMainStatus beaconscan)" = 0 ] || fail 'the service does not end well'
systemctl stop beaconscan
rm -r /var/lib/private/beaconscan

cp /drop-in "$drop_in/network.conf"
systemctl daemon-reload
systemctl start beaconscan || fail 'the service does not start with the drop-in'
look 'the drop-in does not let curl through' 'grep -q "^POST /api/webhook/visitor" /hook.log'

systemctl enable beaconscan 2>/dev/null
systemctl start beaconscan
[ -e /var/lib/private/beaconscan/regions ] || fail 'the service keeps no state'
DEBIAN_FRONTEND=noninteractive apt-get purge -y beaconscan >/dev/null 2>&1 || fail 'it cannot be removed'
if systemctl cat beaconscan >/dev/null 2>&1 && [ -e /usr/lib/systemd/system/beaconscan.service ]; then fail 'the unit is still there'; fi
[ "$(systemctl is-active beaconscan)" = inactive ] || [ "$(systemctl is-active beaconscan)" = failed ] || fail 'the service still runs'
[ ! -e /etc/systemd/system/multi-user.target.wants/beaconscan.service ] || fail 'the unit is still enabled'
[ ! -e /var/lib/private/beaconscan ] || fail 'the state is still there'
echo passed
