#!/usr/bin/env bash
# Proves the README on a bare machine: makes a bare Debian 12 root (mmdebstrap: what Debian calls required, apt, and of ours only
# git and ca-certificates), clones the last commit into it, and runs there the two commands that the README gives, with a
# container engine of their own. The "machine" is a container of this machine's engine: with every capability that this machine
# has but none of its mounts, processes or network names, so that the dockerd inside disturbs nothing here.
#   scripts/bare.sh           ./scripts/demo.sh, then ./scripts/test.sh: an hour on two cores
#   scripts/bare.sh demo      only the first (or: test, only the second)
#   scripts/bare.sh engine    neither: only shows that Debian's dockerd runs a container in there
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

machine=mayfly-bare-$$
bundle_dir=$(mktemp -d)
clean_up() {
  as_root docker rm --force --volumes "$machine" >/dev/null 2>&1 || true
  rm -rf "$bundle_dir"
  stop_engine
}
trap clean_up EXIT

inside() { as_root docker exec --workdir /root "$machine" bash -c "$1"; }

# A capability that this machine itself lacks (SYS_RESOURCE, often, where the machine is a container too) makes the start of
# a privileged container fail, so each one is named.
capabilities() {
  local bounding index
  bounding=$((0x$(sed -n 's/^CapBnd:\t*//p' /proc/self/status)))
  index=0
  for capability in CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE NET_BIND_SERVICE \
    NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE SYS_PACCT SYS_ADMIN SYS_BOOT \
    SYS_NICE SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE AUDIT_CONTROL SETFCAP MAC_OVERRIDE MAC_ADMIN SYSLOG; do
    if [ $((bounding >> index & 1)) -eq 1 ]; then printf -- '--cap-add=%s\n' "$capability"; fi
    index=$((index + 1))
  done
}

start_machine() {
  local granted
  mapfile -t granted < <(capabilities)
  as_root docker run --detach --name "$machine" --hostname bare "${granted[@]}" --security-opt seccomp=unconfined \
    --security-opt systempaths=unconfined --security-opt apparmor=unconfined --device-cgroup-rule 'a *:* rwm' \
    --cgroupns private --volume /var/lib/docker --tmpfs /run --init mayfly-test/bare:1 sleep infinity >/dev/null
  # A machine may write its own cgroups. Version 2 takes children only where no process is in the root itself.
  # shellcheck disable=SC2016  # for the shell inside
  inside 'if [ -f /sys/fs/cgroup/cgroup.controllers ]; then
      mount -o remount,rw /sys/fs/cgroup && mkdir /sys/fs/cgroup/init &&
        while read -r pid; do echo "$pid" >/sys/fs/cgroup/init/cgroup.procs || true; done </sys/fs/cgroup/cgroup.procs &&
        sed "s/ / +/g; s/^/+/" /sys/fs/cgroup/cgroup.controllers >/sys/fs/cgroup/cgroup.subtree_control
    else
      for hierarchy in /sys/fs/cgroup/*; do mountpoint -q "$hierarchy" && mount -o remount,bind,rw "$hierarchy"; done
    fi'
}

clone_into_machine() {
  git bundle create --quiet "$bundle_dir/mayfly.bundle" HEAD
  as_root docker cp "$bundle_dir/mayfly.bundle" "$machine:/root/mayfly.bundle"
  inside 'git -c advice.detachedHead=false clone --quiet mayfly.bundle mayfly'
}

# run_demo, run_test: the output as it comes, and the one line that counts at the end.
run_demo() { inside 'cd mayfly && ./scripts/demo.sh' | tee "$bundle_dir/demo.log"; }

run_test() {
  local started=$SECONDS status=0 failed all
  inside 'cd mayfly && ./scripts/test.sh' | tee "$bundle_dir/test.log" || status=$?
  read -r failed all < <(sed -nE 's/^[0-9]+% tests passed, ([0-9]+) tests failed out of ([0-9]+)$/\1 \2/p' "$bundle_dir/test.log")
  [ -n "${all:-}" ] || die 'test.sh ended before its tests: see above'
  printf 'test.sh %d passed, %d failed %d s\n' $((all - failed)) "$failed" $((SECONDS - started)) >"$bundle_dir/test.line"
  return "$status"
}

# The packages of the engine alone, and a container of the one file that surely runs by itself.
show_engine() {
  inside 'apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends docker.io iptables curl busybox-static >/dev/null 2>&1
    cd mayfly && . scripts/lib.sh && trap stop_engine EXIT && ensure_engine && mkdir /tmp/image && cp /bin/busybox /tmp/image &&
    tar -C /tmp/image -c . | docker import - probe:1 >/dev/null &&
    docker run --rm --network none --memory 64m --cpus 0.5 --pids-limit 32 --tmpfs /tmp:size=1m probe:1 /busybox echo "a container runs on the engine of the bare machine"'
}

what=${1:-all}
case $what in all | demo | test | engine) ;; *) die 'usage: scripts/bare.sh [demo|test|engine]' ;; esac
install_packages
ensure_engine
if ! image_is_there mayfly-test/bare; then
  root_tar=$(debian_root bare-1 git,ca-certificates)
  import_image mayfly-test/bare "$root_tar"
fi
say 'starting the bare machine'
start_machine
clone_into_machine
if [ "$what" = engine ]; then show_engine; fi
if [ "$what" = demo ] || [ "$what" = all ]; then run_demo; fi
if [ "$what" = test ] || [ "$what" = all ]; then run_test || { cat "$bundle_dir/test.line"; exit 1; }; fi
echo
if [ -f "$bundle_dir/demo.log" ]; then grep '^demo.sh ok' "$bundle_dir/demo.log"; fi
if [ -f "$bundle_dir/test.line" ]; then cat "$bundle_dir/test.line"; fi
