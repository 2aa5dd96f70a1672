#!/usr/bin/env bash
# Shows a promise of Mayfly at work, with figures, against a server of its own; fails when the promise is broken.
#   scripts/show.sh exits N [--parallel P] [--seed S]
#       N tasks that exit with a random code, each with a line on stdout and a last line without its newline on stderr:
#       prints "wrong codes, missing tails, leftovers: 0 0 0"
#   scripts/show.sh big
#       a task that writes 1 GiB of binary output: its SHA-256, how much the server's peak memory grew, and the speed from
#       container to disk beside a raw attach of the same program
# Takes mayfly from MAYFLY_BIN_DIR, or from the release build, or from the dev build.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

usage() { die 'usage: scripts/show.sh exits N [--parallel P] [--seed S] | big'; }

# count_leftovers: after a while for what is just being removed.
count_leftovers() {
  local found
  for _ in 1 2 3 4 5; do
    if found=$(MAYFLY_PID=$server_pid scripts/leftovers.sh check "$work/before"); then
      echo 0
      return 0
    fi
    sleep 2
  done
  printf '%s\n' "$found" >&2
  grep -cE '^(container|volume|cgroup) |^left over: .' <<<"$found"
}

show_exits() {
  local wrong missing left
  read -r wrong missing < <("${engine_user[@]}" python3 scripts/show.py exits "$server_socket" "$count" "$parallel" "$seed")
  left=$(count_leftovers)
  echo "wrong codes, missing tails, leftovers: ${wrong:-all} ${missing:-all} $left"
  [ "${wrong:-1} ${missing:-1} $left" = '0 0 0' ]
}

show_big() {
  "${engine_user[@]}" python3 scripts/show.py big "$server_socket" "$server_pid" "$(engine_socket)" "$work"
}

what=${1:-}
count='' parallel=8 seed=1
case $what in
  exits)
    count=${2:-}
    [[ $count =~ ^[0-9]+$ ]] || usage
    shift 2
    ;;
  big) shift ;;
  *) usage ;;
esac
while [ "$#" -gt 0 ]; do
  case $1 in
    --parallel) parallel=${2:?} ;;
    --seed) seed=${2:?} ;;
    *) usage ;;
  esac
  shift 2
done

work=$(mktemp -d)
clean_up() {
  stop_server || true
  as_root rm -rf "$work"
  stop_engine
}
trap clean_up EXIT
install_packages
ensure_engine
find_binaries
if [ "$what" = big ] && grep -qE '__(asan|tsan)_init' "$bin_dir/mayfly"; then
  die "$bin_dir/mayfly is built with sanitizers, whose memory and speed are their own: build the preset release"
fi
scripts/image.sh "$([ "$what" = big ] && echo runtime || echo busybox)"
start_server "$work"
scripts/leftovers.sh save "$work/before"
"show_$what"
