#!/usr/bin/env bash
# Makes an image that tasks run in, from Debian's own packages and through the engine's API: no registry, no docker client.
#   scripts/image.sh           mayfly/runtime:1       a shell, coreutils, Python 3, git and jq (runtime-image/README.md)
#   scripts/image.sh busybox   mayfly-test/busybox:1  one static busybox and a link for each of its applets
# Does nothing when the image is there; a changed recipe gets a new tag. The root file system of the first is kept as a tar
# in ~/.cache/mayfly (XDG_CACHE_HOME), so that a second engine on this machine gets it without a download.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

# Documentation stays out, but for the copyright of each package.
make_runtime() {
  if image_is_there mayfly/runtime; then return 0; fi
  local root_tar
  root_tar=$(debian_root runtime-1 python3,git,jq \
    --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright')
  import_image mayfly/runtime "$root_tar"
}

make_busybox() {
  if image_is_there mayfly-test/busybox; then return 0; fi
  local scratch root applet
  scratch=$(mktemp -d)
  root=$scratch/root
  mkdir -p "$root"/{bin,dev,etc,proc,sys,tmp,workspace}
  chmod 1777 "$root/tmp"
  echo 'root:x:0:0:root:/:/bin/sh' >"$root/etc/passwd"
  cp /bin/busybox "$root/bin/busybox"
  for applet in $(/bin/busybox --list); do
    [ "$applet" = busybox ] || ln -s busybox "$root/bin/$applet"
  done
  tar --create --numeric-owner --owner=0 --group=0 --directory "$root" --file "$scratch/root.tar" .
  import_image mayfly-test/busybox "$scratch/root.tar"
  rm -rf "$scratch"
}

engine_answers || die "no container engine answers on $(engine_socket)"
case ${1:-runtime} in
  runtime) make_runtime ;;
  busybox) make_busybox ;;
  *) die 'usage: scripts/image.sh [runtime|busybox]' ;;
esac
