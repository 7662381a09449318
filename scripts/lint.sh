#!/bin/bash
# lint.sh - the rules that a compiler does not check: layers, form, and what the library exports and needs: lint.sh BUILD
#
# One line per violation; then "N passed, N failed", counted in rules.
set -uo pipefail
cd "$(dirname "$0")/.."
build=${1:?usage: lint.sh BUILD}
library=$build/libmprof.so
shopt -s nullglob

layers="core pprof preload tools"
sources=({core,pprof,preload,tools,bench}/*.[ch] tests/{unit,fuzz,oracle,tsan}/*.[ch] tests/programs/*.{c,h,cc})
headers=({core,pprof,preload,tools,bench}/*.h tests/unit/*.h)
scripts=({scripts,bench}/*.sh .ci/run tests/e2e/*.py {scripts,bench}/*.py)

# --- the text -----------------------------------------------------------------------------------------------------

rule_format() {
	clang-format --dry-run -Werror "${sources[@]}" 2>&1 | sed -n 's/^\([^: ]*\):[0-9:]* error: .*/\1/p' | uniq -c |
		sed -E 's/^ *([0-9]+) (.*)/\2: \1 places differ from what `make format` gives/'
}

# Which folders a layer may include from.
allowed_layers() {
	case $1 in
	core) echo core ;;
	pprof) echo core pprof ;;
	preload) echo core pprof preload ;;
	tools) echo core pprof tools ;;
	esac
}

rule_layers() {
	local layer place included
	for layer in $layers; do
		grep -nHE '^[[:space:]]*#[[:space:]]*include[[:space:]]+"' "$layer"/*.[ch] "$layer"/*.def /dev/null |
			sed -E 's/^([^:]*:[^:]*):[^"]*"([^"]*)".*/\1 \2/' |
			while read -r place included; do
				case " $(allowed_layers "$layer") " in
				*" ${included%%/*} "*) ;;
				*) echo "$place: $layer/ must not include \"$included\"" ;;
				esac
			done
	done
}

# "core/sampler.h", never "sampler.h" or "../core/sampler.h": each include line shows its layer.
rule_includes() {
	local place included
	grep -nHE '^[[:space:]]*#[[:space:]]*include[[:space:]]+"' "${sources[@]}" /dev/null |
		sed -E 's/^([^:]*:[^:]*):[^"]*"([^"]*)".*/\1 \2/' |
		while read -r place included; do
			[[ $included == */* && $included != *..* && (-f $included || -f $build/gen/$included) ]] ||
				echo "$place: \"$included\" is not a path from the root"
		done
}

rule_headers() {
	local header guard
	for header in "${headers[@]}"; do
		guard=MPROF_$(tr 'a-z/.-' 'A-Z___' <<<"$header")
		if [[ $(grep -m 2 -E '^#' "$header") != "#ifndef $guard"$'\n'"#define $guard"* ]]; then
			echo "$header: its guard is not $guard"
		fi
		${CC:-cc} -fsyntax-only -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -I. -I"$build/gen" \
			-include "$header" -x c /dev/null 2>&1 | grep -m 1 'error:' | sed "s|^|$header: does not compile alone: |"
	done
}

rule_first_lines() {
	local file name first
	for file in "${sources[@]}" {core,pprof,preload,tools}/*.def "${scripts[@]}"; do
		name=$(basename "$file")
		first=$(head -n 2 "$file" | grep -v '^#!' | head -n 1)
		case $file:$first in
		*.[ch]:"/* $name - "?* | *.cc:"/* $name - "?* | *.def:"/* $name - "?*) ;;
		*.py:'"""'"$name - "?* | *.sh:"# $name - "?* | .ci/run:"# $name - "?*) ;;
		*) echo "$file:1: the first line does not say what the file is (\"$name - ...\")" ;;
		esac
	done
}

rule_shell() {
	command -v shellcheck >/dev/null || return 0
	shellcheck -f gcc -S warning scripts/*.sh bench/*.sh .ci/run
}

# --- the library --------------------------------------------------------------------------------------------------

# The malloc family and the 20 replaceable operators of C++17 (new, new[] and their deletes, x86-64 and aarch64 names).
exports="malloc calloc realloc reallocarray free cfree free_sized free_aligned_sized memalign aligned_alloc
	posix_memalign valloc pvalloc malloc_usable_size
	_Znwm _Znam _ZnwmRKSt9nothrow_t _ZnamRKSt9nothrow_t
	_ZnwmSt11align_val_t _ZnamSt11align_val_t
	_ZnwmSt11align_val_tRKSt9nothrow_t _ZnamSt11align_val_tRKSt9nothrow_t
	_ZdlPv _ZdaPv _ZdlPvm _ZdaPvm _ZdlPvRKSt9nothrow_t _ZdaPvRKSt9nothrow_t
	_ZdlPvSt11align_val_t _ZdaPvSt11align_val_t _ZdlPvmSt11align_val_t _ZdaPvmSt11align_val_t
	_ZdlPvSt11align_val_tRKSt9nothrow_t _ZdaPvSt11align_val_tRKSt9nothrow_t"

# Dynamic symbols of one kind, by name, without versions.
dynamic_symbols() {
	nm -D "$1" "$library" | awk '{ sub(/@.*/, "", $NF); print $NF }' | sort -u
}

rule_exports() {
	local wanted given
	wanted=$(printf '%s\n' $exports | sort)
	given=$(dynamic_symbols --defined-only | grep -v '^mprof_')
	comm -23 <(echo "$wanted") <(echo "$given") | sed "s|^|$library: does not export |"
	comm -13 <(echo "$wanted") <(echo "$given") | sed "s|^|$library: must not export |"
}

rule_imports() {
	local allowed
	allowed=$(sed 's/#.*//' scripts/imports.allow | tr -s ' \t' '\n' | sed '/^$/d' | sort -u)
	comm -13 <(echo "$allowed") <(dynamic_symbols --undefined-only) |
		sed "s|.*|$library: imports &, which is not in scripts/imports.allow|"
}

rule_needed() {
	readelf -dW "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vE '^(libc\.so\.6|libm\.so\.6|ld-linux-.*)$' |
		sed "s|.*|$library: needs &|"
}

# README's tables are what tools/verbs.def and core/options.def say.
rule_tables() {
	scripts/readme-table.sh --check
}

rule_sections() {
	readelf -lW "$library" | grep -qE 'GNU_STACK.* RW +0x' || echo "$library: asks for an executable stack"
	! readelf -dW "$library" | grep -q TEXTREL || echo "$library: has text relocations"
}

# ------------------------------------------------------------------------------------------------------------------

passed=0
failed=0
for rule in format layers includes headers first_lines tables shell exports imports needed sections; do
	case $rule in exports | imports | needed | sections)
		if [ ! -f "$library" ]; then
			echo "$rule: $library is not built"
			failed=$((failed + 1))
			continue
		fi
		;;
	esac
	found=$("rule_$rule" 2>&1)
	if [ -z "$found" ]; then
		passed=$((passed + 1))
	else
		sed "s/^/$rule: /" <<<"$found"
		failed=$((failed + 1))
	fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
