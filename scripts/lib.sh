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

# ask_engine PATH [curl's arguments…]: the body of the engine's answer; fails on a status of 400 and more.
ask_engine() {
  local path=$1
  shift
  as_root curl -sf --max-time 20 --unix-socket "$(engine_socket)" "$@" "http://engine$path"
}

engine_answers() { as_root curl -sf --max-time 5 --unix-socket "$(engine_socket)" http://engine/_ping >/dev/null 2>&1; }

engine_pid=''
# Starts Debian's dockerd when no engine answers; stop_engine ends it again.
ensure_engine() {
  if engine_answers; then return 0; fi
  say "no container engine answers on $(engine_socket): starting dockerd"
  engine_dir=$(mktemp -d)
  local root=()
  [ "$(id -u)" -eq 0 ] || root=(sudo)
  # Not through as_root: a function in the background is a shell of its own, and its pid not dockerd's.
  "${root[@]}" dockerd --host "unix://$(engine_socket)" >"$engine_dir/dockerd.log" 2>&1 &
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

bin_dir=''
# Sets bin_dir, where mayfly and mayfly-runner are: MAYFLY_BIN_DIR, or the build that is there (release before dev).
find_binaries() {
  local candidate
  for candidate in ${MAYFLY_BIN_DIR:-"$top/build/release/bin" "$top/build/dev/bin"}; do
    if [ -x "$candidate/mayfly" ] && [ -x "$candidate/mayfly-runner" ]; then
      bin_dir=$candidate
      return 0
    fi
  done
  die "no mayfly and mayfly-runner in ${MAYFLY_BIN_DIR:-build/release/bin or build/dev/bin}: build them, or name their directory in MAYFLY_BIN_DIR"
}

server_pid=''
# start_server DIR: runs `mayfly serve` of $bin_dir with its data, socket and log in DIR, and waits until it is ready.
# Whoever may not open the engine's socket gets it, and the client, as root. Sets server_pid and server_socket.
start_server() {
  server_socket=$1/mayfly.sock
  engine_user=()
  [ -w "$(engine_socket)" ] || engine_user=(sudo)
  "${engine_user[@]}" "$bin_dir/mayfly" serve --data-dir "$1/data" --socket "$server_socket" \
    --engine "unix://$(engine_socket)" --log-format text 2>"$1/serve.log" &
  server_pid=$!
  for _ in $(seq 1 300); do
    if ask_server /readyz >/dev/null 2>&1; then return 0; fi
    kill -0 "$server_pid" 2>/dev/null || { tail -20 "$1/serve.log" >&2; die 'mayfly serve ended: see above'; }
    sleep 0.2
  done
  tail -20 "$1/serve.log" >&2
  die 'mayfly serve was not ready within 60 seconds'
}

# stop_server: the server's own exit status.
stop_server() {
  [ -n "$server_pid" ] || return 0
  local status=0
  "${engine_user[@]}" kill "$server_pid" 2>/dev/null || true
  wait "$server_pid" 2>/dev/null || status=$?
  server_pid=''
  return "$status"
}

# ask_server PATH [curl's arguments…]
ask_server() {
  local path=$1
  shift
  "${engine_user[@]}" curl -sf --max-time 30 --unix-socket "$server_socket" "$@" "http://localhost$path"
}

# mayfly COMMAND [ARGUMENTS…]: the client, speaking to the server that was started here.
mayfly() {
  local command=$1
  shift
  "${engine_user[@]}" "$bin_dir/mayfly" "$command" --server "$server_socket" "$@"
}

# cache_dir: where root file systems are kept between runs.
cache_dir() { printf '%s\n' "${XDG_CACHE_HOME:-$HOME/.cache}/mayfly"; }

# What the machine's own apt uses for Debian, as sources.list lines: mirrors and suites are not named here.
apt_sources() {
  # shellcheck disable=SC2016  # the variables are apt's
  apt-get indextargets --format '$(ORIGIN) deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
    sed -n 's/^Debian //p' | sort -u
}

# debian_root NAME PACKAGE,… [mmdebstrap's arguments…]: prints the path of a tar with a Debian 12 root file system: the
# required packages, apt, and those named. Kept in the cache: a minute when it is made, nothing when it is there.
debian_root() {
  local tar scratch sources
  tar=$(cache_dir)/$1.tar
  if [ ! -s "$tar" ]; then
    sources=$(apt_sources)
    if [ -z "$sources" ]; then
      as_root apt-get update -qq >&2
      sources=$(apt_sources)
    fi
    [ -n "$sources" ] || die 'apt has no Debian source: see sources.list(5)'
    say "making the root file system $1 from Debian's packages" >&2
    scratch=$(mktemp -d)
    apt-config dump --format '%F "%v";%n' | grep -iE '^Acquire::https?::(Proxy|Verify)[^ ]* "[^"]' >"$scratch/apt.conf" || true
    as_root mmdebstrap --quiet --variant=minbase --format=tar --include="$2" --skip=output/dev "${@:3}" \
      --aptopt="$scratch/apt.conf" --aptopt='Apt::Install-Recommends "false"' bookworm - - <<<"$sources" >"$scratch/root.tar"
    mkdir -p "$(cache_dir)"
    # Renamed when whole: a run that is cut leaves no half of a tar.
    cp "$scratch/root.tar" "$tar.$$"
    mv "$tar.$$" "$tar"
    rm -rf "$scratch"
  fi
  printf '%s\n' "$tar"
}

# image_is_there REPOSITORY: as REPOSITORY:1.
image_is_there() { ask_engine "/images/$1:1/json" >/dev/null 2>&1; }

# import_image REPOSITORY TAR: as REPOSITORY:1.
import_image() {
  local answer
  say "importing $1:1"
  answer=$(ask_engine "/images/create?fromSrc=-&repo=$1&tag=1" --request POST --max-time 600 \
    --header 'Content-Type: application/x-tar' --header 'Expect:' --upload-file "$2") ||
    die "the engine refused the import of $1:1"
  # The status is 200 before the engine has read the tar: a failure stands in the body alone.
  if jq -e -s 'any(.error != null)' <<<"$answer" >/dev/null; then die "the engine could not import $1:1: $answer"; fi
}

# build PRESET [TARGET…]
build() {
  local preset=$1
  shift
  cmake --preset "$preset" >"build-$preset.log" 2>&1 || { cat "build-$preset.log" >&2; die "configuring $preset failed"; }
  rm -f "build-$preset.log"
  cmake --build --preset "$preset" ${1:+--target "$@"}
}
