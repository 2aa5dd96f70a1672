// Reads of the small files that the kernel makes (/proc, /sys/fs/cgroup).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mayfly::runner {

// The first 64 KiB; nothing when it cannot be read.
std::optional<std::string> read_small_file(const std::string& path);
// A decimal number at the beginning of `text`.
std::optional<std::uint64_t> find_number(std::string_view text);
// The rest of the line that begins with `key` and then white space or a colon.
std::optional<std::string_view> find_field(std::string_view text, std::string_view key);

}  // namespace mayfly::runner
