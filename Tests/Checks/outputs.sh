#!/bin/sh
# Runs every subcommand over every recording and checks each line of JSON by docs/json.schema.json, which must be the
# schema that the command prints. Then compares the outputs of the examples in the documents, and the picture in
# README.md.
#
#   Tests/Checks/outputs.sh            check
#   Tests/Checks/outputs.sh --write    check JSON; write the schema, the outputs in the documents, and
#                                      the picture
#
# The first run fetches Python's jsonschema into .build/python.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
cd "$root"

python=python3
if ! python3 -c 'import jsonschema.validators' 2>/dev/null; then
  python=.build/python/bin/python3
  if ! "$python" -c 'import jsonschema.validators' 2>/dev/null; then
    echo 'Fetching jsonschema from PyPI …'
    python3 -m venv .build/python
    "$python" -m pip install --quiet --disable-pip-version-check 'jsonschema>=4.18,<5'
  fi
fi
# See Package.swift: one build for all checks.
export OPTIMIZED_TEST_BUILD=1
swift build --product beaconscan
beaconscan=$(swift build --show-bin-path)/beaconscan
"$python" Tests/Checks/outputs.py "$beaconscan" "$@"
exec python3 Tests/Checks/picture.py "$beaconscan" "$@"
