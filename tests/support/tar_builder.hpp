// Writes small tar archives (POSIX ustar) for tests, byte by byte, so that hostile ones can be made as well.
#pragma once

#include <string>
#include <string_view>

namespace mayfly::test {

class TarBuilder {
 public:
  TarBuilder& directory(std::string_view path, unsigned mode = 0755);
  TarBuilder& file(std::string_view path, std::string_view content, unsigned mode = 0644);
  TarBuilder& symlink(std::string_view path, std::string_view target);
  // The archive with its end mark.
  std::string finish() const;

 private:
  void header(std::string_view path, char type, unsigned mode, std::size_t size, std::string_view link);

  std::string bytes_;
};

// The content of one regular file in a tar; empty when there is none of this name.
std::string file_in_tar(std::string_view tar, std::string_view path);

}  // namespace mayfly::test
