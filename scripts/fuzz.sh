#!/bin/bash
# fuzz.sh - runs one fuzzer from its corpus on: [GROW=1] fuzz.sh FUZZER [LIBFUZZER-OPTION...]
#
# With GROW=1 inputs that reach something new are added to the corpus.
set -euo pipefail
cd "$(dirname "$0")/.."
fuzzer=${1:?usage: fuzz.sh FUZZER [OPTION...]}
shift
name=$(basename "$fuzzer")
corpus=tests/fuzz/corpus/$name
findings=$(mktemp -d)
mkdir -p "$corpus" "$findings/new"
if ! "$fuzzer" "$@" -artifact_prefix="$findings/" -print_final_stats=1 "$findings/new" "$corpus" > "$findings/log" 2>&1; then
	tail -n 40 "$findings/log"
	echo "fuzz $name: failed; the input is in $findings"
	exit 1
fi
[ "${GROW:-}" != 1 ] || "$fuzzer" -merge=1 "$corpus" "$findings/new" > /dev/null 2>&1
echo "fuzz $name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$findings/log") inputs, nothing found"
rm -r "$findings"
