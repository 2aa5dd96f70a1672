#include "files.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "beneath.hpp"
#include "channel/record.hpp"

namespace mayfly::runner {

namespace {

// What is not there (any longer), or is no regular file, is no result; all else is a reason to tell.
tl::unexpected<Error> open_failed(int error) {
  constexpr auto kNoFile = std::to_array({ENOENT, ENOTDIR, ELOOP, EXDEV, ENXIO});
  const bool is_no_file = std::ranges::find(kNoFile, error) != kNoFile.end();
  return fail(is_no_file ? ErrorCode::not_found : ErrorCode::io, std::generic_category().message(error));
}

}  // namespace

Result<FilePiece> read_file_piece(int workspace, const channel::FilesRead& request) {
  const UniqueFd file = open_beneath(workspace, request.path, O_RDONLY);
  struct stat found {};
  if (!file || ::fstat(file.get(), &found) != 0) return open_failed(errno);
  if (!S_ISREG(found.st_mode)) return fail(ErrorCode::not_found, "not a regular file");
  FilePiece piece;
  piece.chunk.size = static_cast<std::uint64_t>(found.st_size);
  piece.bytes.resize(std::min<std::size_t>(request.length, channel::kMaxPayloadBytes));
  std::size_t filled = 0;
  bool at_end = false;
  while (filled < piece.bytes.size() && !at_end) {
    const ssize_t got = ::pread(file.get(), piece.bytes.data() + filled, piece.bytes.size() - filled,
                                static_cast<off_t>(request.offset + filled));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno("read", errno);
    at_end = got == 0;
    filled += static_cast<std::size_t>(got);
  }
  piece.bytes.resize(filled);
  piece.chunk.end = at_end || request.offset + filled >= piece.chunk.size;
  return piece;
}

}  // namespace mayfly::runner
