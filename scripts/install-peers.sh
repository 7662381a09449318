#!/bin/sh
# install-peers.sh - installs what `make bench` compares mprof with (Debian and its relatives); silent when all is there.
set -eu
packages="libjemalloc2 libgoogle-perftools4 heaptrack redis-server redis-tools sqlite3 git g++ python3"
exec "$(dirname "$0")/install-deps.sh" $packages
