#!/usr/bin/env bash
# Real work from nothing on a bare Debian 12: installs what is missing (Debian packages), starts a container engine when none
# answers, builds, makes the runtime image, starts a server with a data directory of its own, and has it count the words of
# the license and copyright texts of this machine in some thirty tasks, three of which misbehave on purpose. Shows the log of
# one as it streams, the figures of all, and the counts beside those of `wc -w`; then stops what it started.
# MAYFLY_BIN_DIR: take mayfly and mayfly-runner from there and build nothing.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
export LC_ALL=C

work=$(mktemp -d)
follower='' submitter=''
clean_up() {
  local status=$?
  # shellcheck disable=SC2086  # none or two
  kill $follower $submitter 2>/dev/null || true
  [ "$status" -eq 0 ] || [ ! -s "$work/serve.log" ] || tail -20 "$work/serve.log" >&2
  stop_server || true
  as_root rm -rf "$work"
  stop_engine
}
trap clean_up EXIT

tasks() { mayfly ls --json --all --label demo=words; }

# submit FILE…
submit() {
  local file
  for file in "$@"; do
    mayfly submit --json "$file" | jq -r '[.name, .id] | @tsv' >>"$work/ids"
  done
}

# Notices the end of the submits in the background; fails when one was refused.
check_submits() {
  if [ -z "$submitter" ] || kill -0 "$submitter" 2>/dev/null; then return 0; fi
  wait "$submitter" || die 'a task was refused'
  submitter=''
}

# progress_line ENDED ALL SUCCEEDED RUNNING
progress_line() {
  local width=30 filled=$(($1 * 30 / $2))
  printf '[%s%s] %d of %d ended, %d succeeded, %d running' "$(printf '%*s' "$filled" '' | tr ' ' '#')" \
    "$(printf '%*s' $((width - filled)) '' | tr ' ' '.')" "$1" "$2" "$3" "$4"
}

# new_lines: what the streamed task has written since the last look.
streamed_lines=0
new_lines() {
  local now
  now=$(wc -l <"$work/streamed.log")
  [ "$now" -gt "$streamed_lines" ] || return 0
  sed -n "$((streamed_lines + 1)),${now}s/^/   words-01 | /p" "$work/streamed.log"
  streamed_lines=$now
}

# watch_all TASKS: until so many have ended and their sandboxes are gone. On a terminal the bar stays on the last line, else
# it is a line for each change.
watch_all() {
  local all=$1 clear='' last='' line figures ended succeeded running
  [ ! -t 1 ] || clear=$'\r\033[K'
  for _ in $(seq 1 2000); do
    printf '%s' "$clear"
    new_lines
    check_submits
    figures=$(tasks | jq -r '
      [ ([.[] | select(.times.destroyed != null and (.cleanup_pending | not))] | length),
        ([.[] | select(.state == "succeeded")] | length), ([.[] | select(.state == "running")] | length) ] | @tsv')
    read -r ended succeeded running <<<"$figures"
    line=$(progress_line "$ended" "$all" "$succeeded" "$running")
    if [ -n "$clear" ]; then printf '%s' "$line"; elif [ "$line" != "$last" ]; then printf '   %s\n' "$line"; fi
    last=$line
    if [ "$ended" -eq "$all" ]; then
      [ -z "$clear" ] || echo
      return 0
    fi
    sleep 0.3
  done
  die 'the tasks have not ended within ten minutes'
}

show_table() {
  tasks | jq -r 'sort_by(.name)[] | [.name, .state, .reason // "-", .phases.queue_ms, .phases.start_ms, .phases.run_ms,
      .usage.memory_peak_bytes] | @tsv' |
    awk -F'\t' 'function seconds(ms) { return ms == "" ? "-" : sprintf("%.2f s", ms / 1000) }
      BEGIN { format = "%-18s %-10s %-13s %9s %9s %9s %12s\n"
              printf format, "TASK", "STATE", "REASON", "QUEUE", "START", "RUN", "PEAK MEMORY" }
      { printf format, $1, $2, $3, seconds($4), seconds($5), seconds($6), sprintf("%.1f MiB", $7 / 1048576) }'
}

# Each task ended as it was meant to.
check_ends() {
  local wrong
  wrong=$(tasks | jq -r '{
      "fails-on-purpose": ["failed", "exit_nonzero", 3],
      "over-its-memory": ["failed", "oom_killed"],
      "over-its-time": ["timed_out", "run_timeout"] } as $wanted
    | .[] | ($wanted[.name] // ["succeeded", null, 0]) as $want
    | select([.state, .reason, .exit_code][:($want | length)] != $want)
    | "\(.name): \(.state) \(.reason) \(.exit_code) \(.message)"')
  [ -z "$wrong" ] || die "not the end that was meant: $wrong"
}

# Every result file, merged, beside what wc says of the same texts.
merge_results() {
  local name id
  while read -r name id; do
    case $name in words-*) mayfly artifacts --json --output "$work/results/$name" "$id" >/dev/null ;; esac
  done <"$work/ids"
  mkdir -p build/demo
  jq -s -r 'add | to_entries[] | "\(.value) \(.key)"' "$work"/results/*/out/counts.json | sort -k2 >build/demo/words.txt
  xargs -d '\n' -n 1 wc -w <"$work/texts.list" | sort -k2 >"$work/expected.txt"
  cmp build/demo/words.txt "$work/expected.txt" || die 'the counts differ from those of wc -w'
  say "$(awk '{ words += $1 } END { print words " words in " NR " texts, file by file as wc -w counts them" }' build/demo/words.txt): build/demo/words.txt"
}

started=$SECONDS
install_packages
ensure_engine
if [ -z "${MAYFLY_BIN_DIR:-}" ]; then
  say 'building mayfly and mayfly-runner (release)'
  build release mayfly mayfly-runner
fi
find_binaries
scripts/image.sh

say 'starting mayfly serve'
start_server "$work"
scripts/leftovers.sh save "$work/before"
say "submitting: $(python3 scripts/demo_tasks.py "$work")"
task_files=("$work"/tasks/words-*.json "$work"/tasks/[!w]*.json)
submit "${task_files[0]}"
# Not through the function: in the background that is a shell of its own, which a kill does not pass on.
"${engine_user[@]}" "$bin_dir/mayfly" logs --server "$server_socket" --follow "$(cut -f2 "$work/ids")" >"$work/streamed.log" &
follower=$!
submit "${task_files[@]:1}" &
submitter=$!
watch_all "${#task_files[@]}"
wait "$follower"
follower=''
new_lines
show_table
check_ends
merge_results
say 'looking for what is left'
MAYFLY_PID=$server_pid scripts/leftovers.sh check "$work/before"
stop_server || die 'mayfly serve did not stop cleanly'
stop_engine
printf 'demo.sh ok %d s\n' $((SECONDS - started))
