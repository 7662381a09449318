#!/bin/bash
# check.sh - runs every check of a built tree and ends in one line with the sums: check.sh BUILD
set -uo pipefail
cd "$(dirname "$0")/.."
build=${1:?usage: check.sh BUILD}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
passed=0
failed=0

# counts PASSED FAILED: what the last stage found. A stage that ends badly without naming a failure is one itself.
counts() {
	passed=$((passed + ${1:-0}))
	failed=$((failed + ${2:-0}))
	if [ "$status" != 0 ] && [ "${2:-0}" = 0 ]; then
		echo "$stage: exit status $status without a counted failure"
		failed=$((failed + 1))
	fi
}

# run STAGE COMMAND...: all of its output is shown as it comes and kept in $log.
run() {
	stage=$1
	shift
	echo "== $stage"
	"$@" 2>&1 | tee "$log"
	status=${PIPESTATUS[0]}
}

# The last line "N passed, N failed" of $log, as two numbers.
plain_counts() {
	sed -n 's/^\([0-9]\{1,\}\) passed, \([0-9]\{1,\}\) failed$/\1 \2/p' "$log" | tail -n 1
}

# Criterion's "[====] Synthesis: Tested: 3 | Passing: 1 | Failing: 2 | Crashing: 1" (a crash counts as failing too).
criterion_counts() {
	sed -n 's/.*Synthesis: Tested: *\([0-9]*\) *| *Passing: *\([0-9]*\) *| *Failing: *\([0-9]*\).*/\2 \3/p' "$log" | tail -n 1
}

run lint scripts/lint.sh "$build"
counts $(plain_counts)

run freestanding scripts/freestanding.sh
counts $(plain_counts)

run unit "$build/tests/unit" --color=never
counts $(criterion_counts)

# A short run of each fuzzer, which counts as one test.
for fuzzer in "$build"/fuzz/*; do
	run "fuzz" scripts/fuzz.sh "$fuzzer" -runs=20000 -max_len=4096
	counts $((status == 0)) $((status != 0))
done

run e2e python3 tests/e2e/run.py "$build"
counts $(plain_counts)

echo "== all"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
