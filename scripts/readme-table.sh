#!/bin/bash
# readme-table.sh - writes the table of variables in README.md from core/options.def; with --check only compares.
set -euo pipefail
cd "$(dirname "$0")/.."

table() {
	echo '| variable | default | meaning |'
	echo '| --- | --- | --- |'
	sed -n 's/^OPTION([a-z_]*, [a-z_]*, \([A-Z]*\), "\([^"]*\)", "\(.*\)")$/| `HEAPPROF_\1` | `\2` | \3 |/p' core/options.def
}

new=$(mktemp)
trap 'rm -f "$new"' EXIT
sed '/^<!-- table: /,/^<!-- end -->/{/^<!--/!d}' README.md | while IFS= read -r line; do
	printf '%s\n' "$line"
	case $line in '<!-- table: '*) table ;; esac
done > "$new"
if [ "${1:-}" = --check ]; then
	diff -u README.md "$new" || { echo 'README.md: the table of variables is not what core/options.def says: run scripts/readme-table.sh'; exit 1; }
else
	cat "$new" > README.md
fi
