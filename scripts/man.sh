#!/bin/sh
# man.sh - makes the manual pages of a built tree, BUILD/man/mprof.1 and libmprof.7: man.sh BUILD
#
# scripts/man/*.in hold what no other text says; a line "@COMMAND ARGS@" in them stands for what that function below prints.
set -eu
cd "$(dirname "$0")/.."
build=${1:?usage: man.sh BUILD}
export LC_ALL=C

# set_text NAME ARGS...: what scripts/man/NAME.awk makes of it.
set_text() {
	script=$1
	shift
	awk -f scripts/man/roff.awk -f "scripts/man/$script.awk" "$@"
}

# `mprof --help` has the list of verbs, then examples.
help=$("$build/mprof" --help | sed '1,/^usage:/d')
verbs() { printf '%s\n' "$help" | sed '/^[^ ]/,$d' | set_text help; }
examples() { printf '%s\n' "$help" | sed -n '/^[^ ]/,$p' | set_text help; }

# A subsection for each verb.
help_texts() {
	for verb in $(sed -n 's/^VERB(\([a-z]*\),.*/\1/p' tools/verbs.def); do
		text=$("$build/mprof" help "$verb")
		echo ".SS $verb"
		printf '%s\n' "$text" | set_text help
	done
}

variable_names() { set_text tables -v NAMES=1 core/options.def; }
variables() { set_text tables core/options.def; }
losses() { set_text tables core/loss.def; }
readme() { set_text markdown -v SECTION="$*" README.md; }

# preload/mprof.h: what the comment at its head says, and the declarations.
interface() {
	sed -n -e '1d' -e 's/ *\*\/$//' -e 's/^ \* \{0,1\}//p' -e '/^#/q' preload/mprof.h | set_text help
}
declarations() { set_text header preload/mprof.h; }

# The day of the release as CHANGELOG.md says; the same sources always give the same pages.
date() {
	if [ -n "${SOURCE_DATE_EPOCH:-}" ]; then
		command date -u -d "@$SOURCE_DATE_EPOCH" +%F
	else
		sed -n 's/^## .*(\(.*\))$/\1/p' CHANGELOG.md | head -n 1
	fi
}

version=$("$build/mprof" --version | sed q)
mkdir -p "$build/man"
for template in scripts/man/*.in; do
	page=$build/man/$(basename "$template" .in)
	while IFS= read -r line; do
		case $line in
		@*@)
			line=${line#@}
			${line%@}
			;;
		*) printf '%s\n' "$line" ;;
		esac
	done < "$template" > "$page.tmp"
	# A paragraph needs no start after a heading.
	sed -e "s/@DATE@/$(date)/" -e "s/@VERSION@/$version/" "$page.tmp" |
		awk '!(/^\.PP$/ && last ~ /^\.(SH|SS|PP)/) { print; last = $0 }' > "$page"
	rm "$page.tmp"
done
