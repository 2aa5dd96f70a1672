#!/usr/bin/env bash
# Measures against peers in the same run, on the release build: `scripts/bench.sh spine`. Never part of the tests.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
trap stop_engine EXIT

[ "${1:-}" = spine ] || die 'usage: scripts/bench.sh spine'
install_packages
ensure_engine
build release mayfly mayfly-runner >/dev/null
scripts/image.sh busybox
MAYFLY_BIN_DIR=$top/build/release/bin python3 tests/bench/spine.py
