#!/bin/bash
# freestanding.sh - core/sizeclass.c compiles without a libc for targets far from Linux, and refers to nothing.
#
# One line per failure; then "N passed, N failed", counted in targets.
set -uo pipefail
cd "$(dirname "$0")/.."
source=core/sizeclass.c
object=$(mktemp --suffix=.o)
trap 'rm -f "$object"' EXIT

# Compile as the arguments say; the object must define all six functions and refer to nothing.
check() {
	"$@" -std=gnu11 -ffreestanding -O2 -Wall -Wextra -Wshadow -Wundef -Werror -I. \
		-c "$source" -o "$object" || return
	defined=$(llvm-nm --defined-only --format=just-symbols "$object" | grep -c '^sizeclass_')
	[ "$defined" = 6 ] || echo "$source: $defined functions, not 6"
	llvm-nm --undefined-only --format=just-symbols "$object" | sed "s|^|$source: refers to |"
}

passed=0
failed=0
# -nostdlibinc: a header that is not the compiler's own is not found. Threads of WebAssembly have atomics by an option.
targets=("wasm32" "wasm32 -matomics -mbulk-memory" "thumbv7em-none-eabi")
for target in "${targets[@]}"; do
	found=$(check clang --target=$target -nostdlibinc 2>&1)
	if [ -z "$found" ]; then
		passed=$((passed + 1))
	else
		sed "s/^/$target: /" <<<"$found"
		failed=$((failed + 1))
	fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
