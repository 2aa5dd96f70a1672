#!/usr/bin/env bash
# Installs what is missing (Debian packages), starts a container engine when none answers, builds with sanitizers, runs
# every test, and checks format and lint. The last lines count the tests. About 30 minutes on two cores from nothing.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
trap stop_engine EXIT

preset=${1:-dev}
install_packages
ensure_engine
say "building $preset"
build "$preset"
say 'checking format, lint and scripts'
scripts/lint.sh "build/$preset"
say 'running the tests'
ctest --test-dir "build/$preset" --output-on-failure --no-tests=error -j2
