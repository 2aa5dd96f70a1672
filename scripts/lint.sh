#!/usr/bin/env bash
# clang-format on every source, shellcheck on every script, clang-tidy on the sources that changed since
# MAYFLY_TIDY_BASE (default: the commit before HEAD), or on all of them with MAYFLY_TIDY=all. Argument: a build directory.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

build_dir=${1:?the build directory, for its compile commands}
mapfile -t sources < <(git ls-files '*.cpp' '*.hpp')
clang-format --dry-run -Werror "${sources[@]}"
mapfile -t shell_scripts < <(git ls-files 'scripts/*.sh' 'tests/*.sh' .ci/run)
shellcheck -x "${shell_scripts[@]}"

if [ "${MAYFLY_TIDY:-changed}" = all ]; then
  mapfile -t tidied < <(git ls-files 'orchestrator/*.cpp' 'workspace/*.cpp' 'runtime-image/*.cpp')
else
  base=${MAYFLY_TIDY_BASE:-$(git rev-parse --verify --quiet HEAD~1 || git rev-parse HEAD)}
  mapfile -t tidied < <(git diff --name-only --diff-filter=d "$base" -- 'orchestrator/*.cpp' 'workspace/*.cpp' 'runtime-image/*.cpp')
fi
say "clang-tidy on ${#tidied[@]} sources"
[ "${#tidied[@]}" -eq 0 ] && exit 0
printf '%s\0' "${tidied[@]}" | xargs -0 -P2 -n1 clang-tidy -p "$build_dir" --quiet
