// Opening paths that may have been arranged by hostile code: never outside the directory that is given,
// through no link of any kind, and without blocking on a fifo. openat2(2), and a walk of single steps where a
// kernel has none.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/error.hpp"
#include "unique_fd.hpp"

namespace mayfly::runner {

// `path` must pass check_workspace_path. O_CLOEXEC, O_NOFOLLOW, O_NONBLOCK and O_NOCTTY are added to `flags`.
// Invalid with errno set when it cannot be opened; ELOOP or EXDEV when the path leads elsewhere.
UniqueFd open_beneath(int dir, const std::string& path, int flags, mode_t mode = 0);
// The same by single openat steps: for kernels and OCI runtimes (gVisor) without openat2.
UniqueFd open_beneath_by_steps(int dir, const std::string& path, int flags, mode_t mode = 0);
// mkdir -p with 0755 for the directories above `path`; the directory that holds it, as an O_PATH descriptor.
Result<UniqueFd> make_parents_beneath(int dir, std::string_view path);
// One step down, as an O_PATH descriptor, never through a link.
UniqueFd open_directory_at(int dir, const std::string& name);

}  // namespace mayfly::runner
