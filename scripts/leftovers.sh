#!/usr/bin/env bash
# What Mayfly has left on this machine. `save FILE` notes what is there now; `check FILE` names everything that is there
# beyond it and fails: containers and volumes with our label (but for the runner's own volume, which stays by design),
# cgroups of such containers, and descriptors and threads of a server given as MAYFLY_PID.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

usage() { die 'usage: scripts/leftovers.sh save|check FILE   (MAYFLY_PID=… to count a server too)'; }
[ "$#" -eq 2 ] || usage

ask() { as_root curl -sf --max-time 20 --unix-socket "$(engine_socket)" "http://engine$1"; }

labelled='%7B%22label%22%3A%5B%22dev.mayfly.sandbox%22%5D%7D'
found() {
  ask "/containers/json?all=1&filters=$labelled" | jq -r '.[] | "container " + .Names[0]'
  ask "/volumes?filters=$labelled" | jq -r '(.Volumes // [])[] | "volume " + .Name'
  # A container's cgroup bears its id: those that exist without a container are leftovers of the engine for us to know.
  local ids
  ids=$(ask '/containers/json?all=1' | jq -r '.[].Id')
  find /sys/fs/cgroup -maxdepth 4 -type d -path '*docker*' 2>/dev/null | grep -oE '[0-9a-f]{64}' | sort -u |
    grep -vxF "${ids:-none}" | sed 's/^/cgroup /' || true
}

# Descriptors and threads may move by a few with idle connections: counted, and compared with a margin.
counts() {
  [ -n "${MAYFLY_PID:-}" ] || return 0
  printf 'descriptors %s\n' "$(find "/proc/$MAYFLY_PID/fd" -mindepth 1 | wc -l)"
  printf 'threads %s\n' "$(find "/proc/$MAYFLY_PID/task" -mindepth 1 -maxdepth 1 | wc -l)"
}

margin=16
case $1 in
  save)
    { found | sort; counts; } >"$2"
    ;;
  check)
    [ -r "$2" ] || die "no such file: $2"
    now=$(found | sort) # not in a process substitution, whose failure would pass for nothing found
    figures=$(counts)
    new=$(comm -13 <(grep -E '^(container|volume|cgroup) ' "$2" | sort) <([ -z "$now" ] || printf '%s\n' "$now"))
    bad=0
    if [ -n "$new" ]; then
      printf 'left over:\n%s\n' "$new"
      bad=1
    fi
    while read -r what now; do
      before=$(awk -v w="$what" '$1 == w {print $2}' "$2")
      if [ -n "$before" ] && [ "$now" -gt $((before + margin)) ]; then
        printf 'left over: %s %s, before %s\n' "$what" "$now" "$before"
        bad=1
      fi
    done <<<"$figures"
    [ "$bad" -eq 0 ] || exit 1
    echo 'leftovers: none'
    ;;
  *) usage ;;
esac
