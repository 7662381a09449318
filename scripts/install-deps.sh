#!/bin/sh
# install-deps.sh - installs what building and testing mprof needs, or the packages named (Debian and its relatives); silent when all is there.
set -eu

# The build; the tests and the linter; the programs that the tests profile.
packages="gcc g++ make binutils libc6-dev libjemalloc-dev libunwind-dev libprotobuf-c-dev protobuf-c-compiler
	zlib1g-dev libiberty-dev libncurses-dev libdw-dev libelf-dev
	libcriterion-dev libc6-dbg libstdc++6-12-dbg clang clang-format libclang-rt-dev llvm strace python3
	bash coreutils git groff-base libsqlite3-dev procps redis-server redis-tools sqlite3 xz-utils"
# `go tool pprof` reads the profiles back, npm bundles the page of `mprof report`, a browser tests it; any will do, not only Debian's.
command -v go >/dev/null || packages="$packages golang-go"
command -v npm >/dev/null || packages="$packages npm"
command -v chromium >/dev/null || packages="$packages chromium"
[ $# = 0 ] || packages=$*

if ! command -v dpkg-query >/dev/null; then
	echo "install-deps.sh: no dpkg here; please see that these (Debian's names) are installed:" $packages >&2
	exit 0
fi

# One query for all; unknown packages go to its stderr and simply stay out of the answer.
installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' $packages 2>/dev/null | sed -n 's/ installed$//p') || true
missing=
for package in $packages; do
	case "
$installed
" in
	*"
$package
"*) ;;
	*) missing="$missing $package" ;;
	esac
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ]; then
	as_root=env
elif command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
	as_root="sudo env"
else
	printf '%s\n' "install-deps.sh: not root and no usable sudo; please have these installed, then try again:" \
		"    apt-get install$missing" >&2
	exit 1
fi

echo "installing:$missing"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# An update can fail on one unreachable mirror and still have brought what is needed: only the install decides.
$as_root apt-get -qq update >"$log" 2>&1 || true
# RUNLEVEL=1: a package's daemon (redis-server) is wanted as a program here, not started as a service.
if ! $as_root DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 \
	apt-get -qq install -y --no-install-recommends $missing >>"$log" 2>&1; then
	tail -n 20 "$log" >&2
	printf '%s\n' "install-deps.sh: apt-get failed (above); please have these installed, then try again:" \
		"    apt-get install$missing" >&2
	exit 1
fi
