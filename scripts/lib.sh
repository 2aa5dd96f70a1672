# shellcheck shell=bash
# What the scripts share: packages, engine, build. Sourced, never run.

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$top" || exit 1

say() { printf '== %s\n' "$*"; }
die() { printf '%s\n' "$*" >&2; exit 1; }

# As root, or with sudo.
as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

# Installs what is missing of scripts/packages.txt.
install_packages() {
  local wanted missing=() package
  wanted=$(grep -v '^#' scripts/packages.txt)
  for package in $wanted; do
    dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -q '^installed$' || missing+=("$package")
  done
  [ "${#missing[@]}" -eq 0 ] && return 0
  say "installing ${#missing[@]} Debian packages: ${missing[*]}"
  as_root apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

engine_socket() {
  local host=${DOCKER_HOST:-unix:///var/run/docker.sock}
  printf '%s\n' "${host#unix://}"
}

engine_answers() { as_root curl -sf --max-time 5 --unix-socket "$(engine_socket)" http://engine/_ping >/dev/null 2>&1; }

engine_pid=''
# Starts Debian's dockerd when no engine answers; stop_engine ends it again.
ensure_engine() {
  if engine_answers; then return 0; fi
  say "no container engine answers on $(engine_socket): starting dockerd"
  engine_dir=$(mktemp -d)
  # A storage driver is chosen by dockerd itself; network is not needed by tasks, and bridges not everywhere possible.
  as_root dockerd --host "unix://$(engine_socket)" >"$engine_dir/dockerd.log" 2>&1 &
  engine_pid=$!
  for _ in $(seq 1 150); do
    if engine_answers; then return 0; fi
    kill -0 "$engine_pid" 2>/dev/null || { tail -20 "$engine_dir/dockerd.log" >&2; die 'dockerd ended: see above'; }
    sleep 0.2
  done
  tail -20 "$engine_dir/dockerd.log" >&2
  die 'dockerd did not answer within 30 seconds'
}

stop_engine() {
  [ -n "$engine_pid" ] || return 0
  say 'stopping the dockerd that was started here'
  as_root kill "$engine_pid" 2>/dev/null || true
  wait "$engine_pid" 2>/dev/null || true
  rm -rf "$engine_dir"
  engine_pid=''
}

# build PRESET [TARGET…]
build() {
  local preset=$1
  shift
  cmake --preset "$preset" >"build-$preset.log" 2>&1 || { cat "build-$preset.log" >&2; die "configuring $preset failed"; }
  rm -f "build-$preset.log"
  cmake --build --preset "$preset" ${1:+--target "$@"}
}
