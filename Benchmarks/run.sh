#!/usr/bin/env bash
# Builds the command, the yardstick and the benchmarks, makes the recordings that are missing, and
# measures. See README.md.
#
#   Benchmarks/run.sh [--runs N] [--reports N] [--skip-build] [--only NAME,…]
set -euo pipefail
cd "$(dirname "$0")"

if [[ " $* " != *" --skip-build "* ]]; then
  (cd .. && swift build -c release --static-swift-stdlib --product beaconscan) >&2
  (cd .. && BUILD_STUDIES=1 swift build -c release --static-swift-stdlib --product micro) >&2
  swift build -c release --static-swift-stdlib >&2
fi
mkdir -p data
cc -O3 -march=native -Wall -Wextra yardstick.c -o data/yardstick -lm
cc -O2 -Wall -Wextra -shared -fPIC count-malloc.c -o data/count-malloc.so -ldl
cc -O2 -Wall -Wextra launch.c -o data/launch
exec python3 measure.py "$@"
