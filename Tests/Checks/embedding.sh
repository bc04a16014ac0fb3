#!/bin/bash
# Builds the library for C and the command, installs the library into a new folder, and checks its symbols and
# dependencies, the header in C11 and C++17, the examples of docs/embedding.md against `beaconscan monitor` and `range`
# on the same recording, wrong options, the release of resources by a stopped scanner, and, if valgrind is installed,
# memory.
#
#   Tests/Checks/embedding.sh
set -euo pipefail
export LC_ALL=C.UTF-8
root=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"
fail() { echo "embedding: $*" >&2; exit 1; }
for tool in cc c++ pkg-config python3 readelf; do
  command -v "$tool" >/dev/null || fail "there is no $tool; on Debian and Ubuntu: apt-get install build-essential pkg-config python3"
done

for product in beaconscan-c beaconscan; do
  swift build -c release --static-swift-stdlib --product "$product"
done
command=.build/release/beaconscan
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
export XDG_STATE_HOME=$place/home
Scripts/install.sh --library --prefix "$place/usr"
library=$place/usr/lib/libbeaconscan.so.0
export PKG_CONFIG_PATH=$place/usr/lib/pkgconfig LD_LIBRARY_PATH=$place/usr/lib

# What it exports is what the header declares, and nothing of Swift is needed.
declared=$(sed -n 's/^[a-z].*[ *]\(bs_[a-z_]*\)(.*/\1/p' "$place/usr/include/beaconscan.h" | sort)
exported=$(readelf --dyn-syms -W "$library" |
  awk '($5 == "GLOBAL" || $5 == "WEAK") && $7 != "UND" {print $8}' | sort)
[ "$declared" = "$exported" ] ||
  fail "the header and the library differ: $(diff <(echo "$declared") <(echo "$exported") || true)"
needed=$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
if grep -iE 'swift|foundation|dispatch|blocks' <<<"$needed"; then fail 'it needs a library of Swift'; fi
readelf -d "$library" | grep -q 'SONAME.*\[libbeaconscan.so.0\]' || fail 'its soname is not libbeaconscan.so.0'
if readelf -sW .build/release/libbeaconscan-c.so | grep -E ' \$s10Foundation[A-Z0-9]'; then
  fail 'all of Foundation is in it; FoundationEssentials is enough'
fi
size=$(stat -Lc %s "$library")
[ "$size" -le 21000000 ] || fail "it has $size bytes, and the limit is 21,000,000"

# The flags may be several words.
read -r -a flags <<<"$(pkg-config --cflags --libs beaconscan)"
strict=(-Wall -Wextra -Werror -pedantic)
cc -std=c11 -D_POSIX_C_SOURCE=200809L "${strict[@]}" Examples/C/kiosk.c "${flags[@]}" -o "$place/kiosk"
c++ -std=c++17 "${strict[@]}" Examples/C/callback.cpp "${flags[@]}" -pthread -o "$place/callback"
sed -n '/^```c$/,/^```$/{/^```/d;p}' docs/embedding.md >"$place/page.c"
cc -std=c11 -D_POSIX_C_SOURCE=200809L "${strict[@]}" "$place/page.c" "${flags[@]}" -o "$place/page"
[ "$(pkg-config --modversion beaconscan)" = "$("$command" --version)" ] || fail 'pkg-config has another version'

# Events are those of the command, but for the last one.
beacon=E2C56DB5-DFFB-48D2-B060-D0F5A71096E0
recording=captures/visitor.btsnoop
last='{"type":"end","error":null}'
same() {
  [ "$(tail -n 1 "$place/events")" = "$last" ] || fail "$1: the last event is $(tail -n 1 "$place/events")"
  diff "$place/expected" <(sed '$d' "$place/events") >&2 || fail "$1: other events than the command's"
}
"$command" monitor --format json --quiet --region "kiosk=$beacon:1:100,enter-distance=1,each" --uuid "$beacon" \
  --exit-after 20s --replay "$recording" >"$place/expected"
[ "$(grep -c '"type":"enter"' "$place/expected")" -ge 2 ] || fail 'the recording has no entries'
set -- "region=kiosk=$beacon:1:100,enter-distance=1,each" "uuid=$beacon" exit-after=20s "replay=$recording"
"$place/kiosk" --events "$@" </dev/null >"$place/events" && same kiosk
"$place/callback" "$@" >"$place/events" && same callback
python3 Examples/C/kiosk.py "$@" >"$place/events" && same kiosk.py
events=$(wc -l <"$place/events")
"$command" range --format json --quiet --raw --interval 500ms --replay "$recording" >"$place/expected"
"$place/kiosk" --events range raw interval=500ms "replay=$recording" </dev/null >"$place/events" && same 'kiosk, range'
track=captures/visitor.gpx
set -- "stop=52.5163,13.3777,200" "kiosk=$beacon:1:100"
"$command" monitor --format json --quiet --region "$1" --region "$2" "$track" "$recording" >"$place/expected"
[ "$(grep -c '"type":"enter"' "$place/expected")" -eq 2 ] || fail 'the recordings have no entries of both regions'
"$place/kiosk" --events "region=$1" "region=$2" "replay=$track" "replay=$recording" </dev/null >"$place/events" &&
  same 'kiosk, circle'
"$command" locate --format json --quiet --visits "$track" >"$place/expected"
"$place/kiosk" --events locate visits "replay=$track" </dev/null >"$place/events" && same 'kiosk, locate'
shown=$("$place/kiosk" "region=screen=$beacon:1:100" "replay=$recording" </dev/null)
[ "$shown" = $'screen: welcome\nscreen: slides' ] || fail "the kiosk shows: $shown"

# What is wrong is refused with what is valid.
refused() {
  local sentence=$1 status=0
  shift
  "$place/kiosk" "$@" </dev/null >"$place/refused" 2>&1 || status=$?
  [ "$status" -ne 0 ] || fail "these options are accepted: $*"
  grep -qF "$sentence" "$place/refused" || fail "$*: $(cat "$place/refused")"
}
refused "there is no option 'rgion'; the options are active, adapter, " rgion=x
refused "region: 'lobby' cannot be used: write NAME=UUID" region=lobby
refused 'write adaptive, or a number of seconds' exit-after=soon
refused "there is no rule 'near'; the rules are boundary, " "region=x=$beacon,near=1" "replay=$recording"
refused 'there is nothing to report: set a region' "replay=$recording"
refused 'a circle is NAME=LATITUDE,LONGITUDE,RADIUS' region=stop=91,13,200
refused 'set locate, heading, visits or a region that is a circle too' range source=gpsd
refused 'there is no such file' range "replay=$place/none"

# A scanner that was stopped leaves nothing: no memory, no descriptor, no lock of the state file.
cat >"$place/cycles.c" <<'EOF'
#include <beaconscan.h>
#include <dirent.h>
#include <malloc.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

static int descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

static int cycle(char **options, int index)
{
    bs_options *settings = bs_options_new();
    bs_scanner *scanner;
    for (; *options; options += 2)
        bs_options_set(settings, options[0], options[1]);
    bs_options_set(settings, "nothing", NULL);
    scanner = bs_start(settings);
    if (!scanner) {
        fprintf(stderr, "%s\n", bs_error(settings));
        return 0;
    }
    bs_options_free(settings);
    /* Some are stopped before their end. */
    if (index % 4) {
        struct pollfd wait = {bs_fd(scanner), POLLIN, 0};
        poll(&wait, 1, -1);
        while (bs_next(scanner))
            ;
    }
    bs_stop(scanner);
    return 1;
}

int main(int count, char **arguments)
{
    size_t before = 0, after = 0;
    int open = 0, index;
    (void)count;
    for (index = 0; index < 400; index++) {
        if (!cycle(arguments + 1, index))
            return 1;
        if (index == 100) {
            usleep(200000);
            before = mallinfo2().uordblks;
            open = descriptors();
        }
    }
    /* What a thread of the library still holds is freed soon. */
    for (index = 0; index < 1000; index++) {
        after = mallinfo2().uordblks;
        if (after < before + 65536 && descriptors() <= open)
            return 0;
        usleep(10000);
    }
    fprintf(stderr, "%zu bytes more, %d descriptors more\n", after - before, descriptors() - open);
    return 2;
}
EOF
cc -std=gnu11 -Wall -Wextra -Werror "$place/cycles.c" "${flags[@]}" -o "$place/cycles"
"$place/cycles" region "kiosk=$beacon:1:100" replay "$recording" state-file "$place/state" 2>"$place/log" ||
  { cat "$place/log" >&2; fail 'scanners that were stopped leave something'; }
[ ! -s "$place/log" ] || { head "$place/log" >&2; fail 'scanners that are stopped complain'; }

memory=', valgrind is missing'
if command -v valgrind >/dev/null; then
  # Values that Swift makes once for the process look lost to it: only memory that is used wrongly counts. Its runtime
  # reads the padding of a type's layout, which matters once its types take more than their first 64 KiB.
  cat >"$place/suppressions" <<'EOF'
{
  the layout of a generic type
  Memcheck:Cond
  fun:swift_initStructMetadata
}
EOF
  # valgrind needs the names of functions, and cannot read the format of the debug information.
  mkdir "$place/named"
  objcopy --strip-debug .build/release/libbeaconscan-c.so "$place/named/libbeaconscan.so.0"
  for program in kiosk callback; do
    LD_LIBRARY_PATH=$place/named valgrind --quiet --error-exitcode=9 --leak-check=no \
      --suppressions="$place/suppressions" "$place/$program" "region=kiosk=$beacon:1:100" \
      "replay=$recording" </dev/null >"$place/log" 2>&1 ||
      { tail -n 40 "$place/log" >&2; fail "$program: valgrind reports errors"; }
  done
  memory=', valgrind reports nothing'
fi
echo "embedding: $(wc -w <<<"$exported") functions, $size bytes; $events events as the command's, in C, C++ and Python$memory"
