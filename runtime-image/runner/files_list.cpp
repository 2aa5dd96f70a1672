// files.list: a walk in path order whose memory does not grow with the tree. Of each directory on the way
// down only the next batch of names is held; a directory with more is scanned again from the last name on.
#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "base/glob.hpp"
#include "beneath.hpp"
#include "channel/message_fields.hpp"
#include "channel/record.hpp"
#include "files.hpp"
#include "task/workspace_path.hpp"

namespace mayfly::runner {
namespace {

constexpr std::size_t kMostBatch = 128;      // names held for each level
constexpr std::size_t kMostDepth = 64;       // levels; what is deeper is named in `skipped`
constexpr std::size_t kSkippedBytes = 2048;  // of a page for what is only named; more of those are left out
constexpr std::size_t kFilesBytes = channel::kMaxHeadBytes - kSkippedBytes - 1024;
constexpr std::size_t kEntryOverhead = 64;  // the members of an entry beside its path
constexpr std::uint32_t kPermissions = 0777;

// In the byte order of whole paths a directory stands where "name/" does: "a-b" comes before "a/c".
struct Name {
  std::string key;  // with a final slash for a directory
  bool is_directory() const { return key.back() == '/'; }
  std::string text() const { return is_directory() ? key.substr(0, key.size() - 1) : key; }
  friend bool operator<(const Name& a, const Name& b) { return a.key < b.key; }
};

// What a path takes in a page at most: JSON may write a byte as six.
std::size_t bytes_of(const std::string& path) {
  return dump_json(channel::bytes_to_json(path)).size() + kEntryOverhead;
}

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

class Walk {
 public:
  Walk(const channel::FilesList& request, std::size_t most_entries)
      : request_(request), left_(most_entries) {}

  Result<channel::FilesPage> run(int workspace) {
    auto walked = descend(workspace, "", 0);
    if (!walked) return fail_with(std::move(walked));
    finish_page();
    return std::move(page_);
  }

 private:
  bool is_full() const { return page_.more; }

  template <class Judge>
  bool any_pattern(Judge judge) const {
    return std::any_of(request_.patterns.begin(), request_.patterns.end(), judge);
  }
  bool matches(const std::string& path) const {
    return any_pattern([&](const std::string& pattern) { return glob_matches(pattern, path); });
  }
  bool may_match_under(const std::string& path) const {
    return any_pattern([&](const std::string& pattern) { return glob_may_match_under(pattern, path); });
  }

  // Whether the entry, or something below it, can come after `after` and match.
  bool is_wanted(const std::string& path, const Name& name) const {
    if (!name.is_directory()) return path > request_.after && matches(path);
    const std::string below = path + "/";
    return (below > request_.after || request_.after.starts_with(below)) && may_match_under(path);
  }

  Result<void> descend(int dir, const std::string& prefix, std::size_t depth);
  Result<std::vector<Name>> next_batch(int dir, const std::string& prefix, const std::string& after);
  Result<void> visit(int dir, const std::string& prefix, const Name& name, std::size_t depth);
  void add(int dir, const std::string& path, const std::string& name);
  void skip(const std::string& path);
  void finish_page();

  const channel::FilesList& request_;
  std::size_t left_;
  std::size_t files_bytes_ = 0, skipped_bytes_ = 0;
  channel::FilesPage page_;
};

// d_type is DT_UNKNOWN on some file systems.
bool is_directory_entry(int dir, const dirent& entry) {
  if (entry.d_type != DT_UNKNOWN) return entry.d_type == DT_DIR;
  struct stat found {};
  return ::fstatat(dir, entry.d_name, &found, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(found.st_mode);
}

// The first names in order after the key `after`, of those that are wanted.
Result<std::vector<Name>> Walk::next_batch(int dir, const std::string& prefix, const std::string& after) {
  const int readable = ::openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (readable < 0) {  // the task took its own right to read it
    skip(prefix.empty() ? "." : prefix.substr(0, prefix.size() - 1));
    return std::vector<Name>();
  }
  const std::unique_ptr<DIR, CloseDirectory> directory(::fdopendir(readable));
  if (!directory) {
    ::close(readable);
    return fail_errno("list", ENOMEM);
  }
  std::vector<Name> batch;  // a heap with the last name on top
  while (const dirent* entry = ::readdir(directory.get())) {
    const std::string_view text = entry->d_name;
    if (text == "." || text == "..") continue;
    if (left_-- == 0) {
      left_ = 0;
      return fail(ErrorCode::payload_too_large, "the workspace has too many entries to list");
    }
    Name name{.key = std::string(text) + (is_directory_entry(dir, *entry) ? "/" : "")};
    if (name.key <= after || (batch.size() == kMostBatch && !(name < batch.front()))) continue;
    if (!is_wanted(prefix + std::string(text), name)) continue;
    if (batch.size() == kMostBatch) {
      std::pop_heap(batch.begin(), batch.end());
      batch.pop_back();
    }
    batch.push_back(std::move(name));
    std::push_heap(batch.begin(), batch.end());
  }
  std::sort_heap(batch.begin(), batch.end());
  return batch;
}

Result<void> Walk::descend(int dir, const std::string& prefix, std::size_t depth) {
  std::string after;
  for (;;) {
    auto batch = next_batch(dir, prefix, after);
    if (!batch) return fail_with(std::move(batch));
    for (const Name& name : *batch) {
      auto visited = visit(dir, prefix, name, depth);
      if (!visited || is_full()) return visited;
    }
    if (batch->size() < kMostBatch) return {};
    after = batch->back().key;
  }
}

Result<void> Walk::visit(int dir, const std::string& prefix, const Name& name, std::size_t depth) {
  const std::string path = prefix + name.text();
  if (!check_workspace_path(path)) return {};  // longer than any path that could be asked for
  if (!name.is_directory()) {
    add(dir, path, name.text());
    return {};
  }
  if (depth == kMostDepth) {
    skip(path);
    return {};
  }
  const UniqueFd below = open_directory_at(dir, name.text());
  if (!below) return {};  // gone, or a link by now
  return descend(below.get(), path + "/", depth + 1);
}

// Only files fill a page, for the next one begins after the last file.
void Walk::add(int dir, const std::string& path, const std::string& name) {
  struct stat found {};
  if (::fstatat(dir, name.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) return;
  if (!S_ISREG(found.st_mode)) return skip(path);
  const std::size_t bytes = bytes_of(path);
  page_.more = page_.files.size() >= std::max<std::uint32_t>(request_.limit, 1) ||
               (!page_.files.empty() && files_bytes_ + bytes > kFilesBytes);
  if (page_.more) return;
  files_bytes_ += bytes;
  page_.files.push_back({.path = path,
                         .size = static_cast<std::uint64_t>(found.st_size),
                         .mode = static_cast<std::uint32_t>(found.st_mode) & kPermissions});
}

void Walk::skip(const std::string& path) {
  const std::size_t bytes = bytes_of(path);
  if (skipped_bytes_ + bytes > kSkippedBytes) return;
  skipped_bytes_ += bytes;
  page_.skipped.push_back(path);
}

// What was skipped behind the last file comes again with the next page.
void Walk::finish_page() {
  if (page_.more)
    std::erase_if(page_.skipped, [&](const std::string& path) { return path > page_.files.back().path; });
}

}  // namespace

Result<channel::FilesPage> list_files(int workspace, const channel::FilesList& request,
                                      std::size_t most_entries) {
  for (const std::string& pattern : request.patterns) {
    if (auto sound = check_glob(pattern); !sound) return fail_with(std::move(sound));
  }
  return Walk(request, most_entries).run(workspace);
}

}  // namespace mayfly::runner
