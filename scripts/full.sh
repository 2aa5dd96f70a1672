#!/usr/bin/env bash
# Everything that CI does, and more: every preset, clang-tidy on all sources, and the full counts. Hours, not minutes.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
trap stop_engine EXIT

install_packages
ensure_engine
export MAYFLY_FULL=1 MAYFLY_TIDY=all
for preset in dev tsan release; do
  say "building $preset"
  build "$preset"
done
scripts/lint.sh build/release
for preset in dev tsan release; do
  say "running the tests of $preset"
  ctest --test-dir "build/$preset" --output-on-failure --no-tests=error -j2
done
scripts/bench.sh spine
