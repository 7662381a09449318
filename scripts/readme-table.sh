#!/bin/bash
# readme-table.sh - writes the tables in README.md from the sources that their markers name; with --check only compares.
set -euo pipefail
cd "$(dirname "$0")/.."

# The rows for a line "<!-- table: SOURCE -->".
table() {
	case $1 in
	*core/options.def*)
		echo '| variable | default | meaning |'
		echo '| --- | --- | --- |'
		sed -n 's/^OPTION([a-z_]*, [a-z_]*, \([A-Z]*\), "\([^"]*\)", "\(.*\)")$/| `HEAPPROF_\1` | `\2` | \3 |/p' core/options.def
		;;
	*tools/verbs.def*)
		echo '| verb | what it does |'
		echo '| --- | --- |'
		sed -n 's/^VERB(\([a-z]*\), "\(.*\)")$/| `\1` | \2 |/p' tools/verbs.def
		;;
	*) echo "README.md: $1: no such table" >&2 && exit 1 ;;
	esac
}

new=$(mktemp)
trap 'rm -f "$new"' EXIT
sed '/^<!-- table: /,/^<!-- end -->/{/^<!--/!d}' README.md | while IFS= read -r line; do
	printf '%s\n' "$line"
	case $line in '<!-- table: '*) table "$line" ;; esac
done > "$new"
if [ "${1:-}" = --check ]; then
	diff -u README.md "$new" || { echo 'README.md: a table is not what its source says: run scripts/readme-table.sh'; exit 1; }
else
	cat "$new" > README.md
fi
