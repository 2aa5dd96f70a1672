// A tar archive made piece by piece in memory, for "all results as one tar". No I/O; one thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/bytes.hpp"

namespace mayfly {

struct TarEntry {
  std::string path;  // relative; any bytes but NUL
  Bytes size{};
  std::uint32_t mode = 0644;  // permission bits
};

// ustar, and pax (POSIX.1-2001) headers where a name is long or not ASCII or a size is 8 GiB or more. A name
// that is not UTF-8 is kept as its bytes (hdrcharset=BINARY). Regular files only, owner 0:0, one time for
// all: the same content gives the same archive. Errors are bugs of the caller (internal) or names that no
// archive can hold.
class TarWriter {
 public:
  explicit TarWriter(std::chrono::sys_seconds mtime);
  ~TarWriter();
  TarWriter(TarWriter&&) noexcept;
  TarWriter& operator=(TarWriter&&) noexcept;

  // The entry before must be whole.
  Result<> begin(const TarEntry& entry);
  // Never more than the entry's size.
  Result<> append(std::string_view data);
  // The end of the archive.
  Result<> finish();
  // What came out since the last call.
  std::string take();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace mayfly
