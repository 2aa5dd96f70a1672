#include "small_file.hpp"

#include <charconv>

#include "unique_fd.hpp"

namespace mayfly::runner {

std::optional<std::string> read_small_file(const std::string& path) {
  constexpr std::size_t kMost = 64U << 10U;
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!fd) return std::nullopt;
  std::string text;
  char buffer[4096];
  while (text.size() < kMost) {
    const ssize_t got = ::read(fd.get(), buffer, sizeof buffer);
    if (got < 0) return std::nullopt;
    if (got == 0) break;
    text.append(buffer, static_cast<std::size_t>(got));
  }
  return text;
}

std::optional<std::uint64_t> find_number(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return std::nullopt;
  std::uint64_t number = 0;
  const auto parsed = std::from_chars(text.data() + begin, text.data() + text.size(), number);
  if (parsed.ec != std::errc()) return std::nullopt;
  return number;
}

std::optional<std::string_view> find_field(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    if (line.starts_with(key)) {
      const std::string_view rest = line.substr(key.size());
      const std::size_t value = rest.find_first_not_of(": \t");
      if (value != std::string_view::npos && value > 0) return rest.substr(value);
    }
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return std::nullopt;
}

}  // namespace mayfly::runner
