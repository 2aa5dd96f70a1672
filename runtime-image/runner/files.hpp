// Hands out result files: lists what matches below the workspace and reads pieces. The tree may have been
// arranged, and may still be changed, by hostile code: no link is followed, nothing but regular files is
// opened, and one request does a bounded amount of work in a bounded amount of memory.
#pragma once

#include "channel/messages.hpp"

namespace mayfly::runner {

// Entries that one files.list may look at; beyond it is an error, so that pings are answered in time.
inline constexpr std::size_t kMostEntriesPerList = 200'000;

// Files in the byte order of their paths, after `request.after`. `workspace`: an O_PATH descriptor.
Result<channel::FilesPage> list_files(int workspace, const channel::FilesList& request,
                                      std::size_t most_entries = kMostEntriesPerList);

struct FilePiece {
  channel::FileChunk chunk;
  std::string bytes;
};
Result<FilePiece> read_file_piece(int workspace, const channel::FilesRead& request);

}  // namespace mayfly::runner
