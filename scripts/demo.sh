#!/bin/bash
# demo.sh - profiles a real program, SQLite's shell on a table of 300,000 rows, and shows how to read it: demo.sh BUILD
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:?usage: demo.sh BUILD}
demo=$build/demo
mkdir -p "$demo"
rm -f "$demo"/sqlite3.*.pb.gz

step() { printf '\n==> %s\n' "$*"; }

step "Make a libsqlite3.so.0 that still has its symbol table (Debian's shared one is stripped, its static one is not)"
if [ ! -f "$demo/libsqlite3.so.0" ]; then
	${CC:-gcc} -shared -o "$demo/libsqlite3.so.0" -Wl,-Bsymbolic -Wl,-soname,libsqlite3.so.0 \
		-Wl,--whole-archive "$(${CC:-gcc} -print-file-name=libsqlite3.a)" -Wl,--no-whole-archive -lm -lz
fi
echo "$demo/libsqlite3.so.0"

# The dump signal is sent while the table is alive; what the profile at the exit holds in use is only what nobody freed.
cat >"$demo/work.sql" <<'SQL'
CREATE TABLE city(id INTEGER PRIMARY KEY, name TEXT, people INTEGER);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000)
	INSERT INTO city SELECT i, 'city number ' || (i * 7919 % 300007), i * 104729 % 1000003 FROM n;
CREATE INDEX by_people ON city(people);
SELECT count(*) || ' rows, ' || sum(people) || ' people' FROM city;
SELECT max(total) || ' people in the largest group' FROM
	(SELECT sum(people) AS total FROM city GROUP BY substr(name, 13, 2) ORDER BY total DESC);
.shell kill -s RTMAX-4 $PPID
SQL

step "Run it under mprof at the default rate; it asks for a profile of itself (kill -s RTMAX-4) while the table is alive"
LD_LIBRARY_PATH="$demo" "$build/mprof" run --out "$demo/%c.%p.%n.pb.gz" -- sqlite3 -batch :memory: <"$demo/work.sql"

profile=$(find "$demo" -name 'sqlite3.*.1.pb.gz' -print -quit)
if [ -z "$profile" ]; then
	echo "demo.sh: no profile was written" >&2
	exit 1
fi

step "Who holds the memory?   $build/mprof top -n 12 $profile"
"$build/mprof" top -n 12 "$profile"

step "Who allocated most, freed or not?   $build/mprof top --sample alloc_space -n 12 $profile"
"$build/mprof" top --sample alloc_space -n 12 "$profile"

step "Look further with Go's tool"
cat <<EOT
    go tool pprof -top $profile
    go tool pprof -top -cum -sample_index=alloc_space $profile
    go tool pprof -http=localhost:8080 $profile
EOT
