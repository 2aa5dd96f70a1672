// Tar archives for tests, with whatever an entry may lie about.
#pragma once

#include <string>
#include <vector>

namespace mayfly::test {

struct TarEntry {
  enum class Kind { file, directory, symlink } kind = Kind::file;
  std::string path;
  std::string content;  // or the link's target
  unsigned mode = 0644;
  int uid = 0;
};

std::string build_tar(const std::vector<TarEntry>& entries);
std::vector<TarEntry> read_tar(const std::string& tar);

}  // namespace mayfly::test
