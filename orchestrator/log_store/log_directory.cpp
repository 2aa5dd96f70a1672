#include "log_store/log_directory.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <string>

#include "base/json.hpp"
#include "log_store/segment_file.hpp"

namespace mayfly {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".log";

// Nothing for other names: the marker, a marker that was being written.
std::optional<std::uint32_t> find_attempt(const fs::path& name) {
  const std::string text = name.string();
  if (!text.ends_with(kSuffix)) return std::nullopt;
  const auto number = parse_decimal(std::string_view(text).substr(0, text.size() - kSuffix.size()));
  if (!number || *number > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  return static_cast<std::uint32_t>(*number);
}

tl::unexpected<Error> fail_on(const fs::path& path, std::string_view tried, const std::error_code& error) {
  return fail_errno(std::string(tried) + " " + path.string(), error.value());
}

struct Settled {
  segment::StreamEnds ends{};
  std::uint64_t cut = 0;
};

// On disk, and without the torn tail that a killed process may have left.
Result<Settled> settle(const fs::path& path, std::uint32_t attempt) {
  const auto file = open_file(path, O_RDWR | O_NOFOLLOW);
  if (!file) return fail_with(file);
  const auto scan = segment::scan_segment(file->get(), attempt, segment::Depth::header);
  if (!scan) return fail_with(scan);
  Settled settled{.ends = scan->ends};
  if (scan->tail == segment::Found::torn) {
    settled.cut = scan->file_size - scan->length;
    if (ftruncate(file->get(), static_cast<off_t>(scan->length)) != 0)
      return fail_errno("cut " + path.string(), errno);
  }
  if (fdatasync(file->get()) != 0) return fail_errno("sync " + path.string(), errno);
  return settled;
}

}  // namespace

Result<LogDirectory> LogDirectory::of(const fs::path& root, const TaskId& task) {
  if (!is_id_text(TaskId::prefix(), task.str()))
    return fail(ErrorCode::invalid_argument, "not the id of a task");
  // The end of an id is random, its head is the time: 1024 directories, evenly filled.
  const std::string shard = task.str().substr(task.str().size() - 2);
  return LogDirectory(root / shard / task.str());
}

bool LogDirectory::exists() const {
  std::error_code ignored;
  return fs::is_directory(path_, ignored);
}

fs::path LogDirectory::segment(std::uint32_t attempt) const {
  return path_ / (std::to_string(attempt) + std::string(kSuffix));
}

Result<std::vector<std::uint32_t>> LogDirectory::attempts() const {
  std::vector<std::uint32_t> found;
  std::error_code error;
  for (fs::directory_iterator entry(path_, error), end; !error && entry != end; entry.increment(error)) {
    if (const auto attempt = find_attempt(entry->path().filename())) found.push_back(*attempt);
  }
  if (error && error != std::errc::no_such_file_or_directory) return fail_on(path_, "list", error);
  std::ranges::sort(found);
  return found;
}

Result<FileDescriptor> LogDirectory::open_segment(std::uint32_t attempt) const {
  return open_file(segment(attempt), O_RDONLY | O_NOFOLLOW);
}

bool LogDirectory::is_sealed() const {
  std::error_code ignored;
  return fs::exists(path_ / "sealed", ignored);
}

Result<std::optional<segment::StreamEnds>> LogDirectory::find_seal() const {
  const auto text = read_file(path_ / "sealed", 4_KiB);
  if (!text && text.error().code == ErrorCode::not_found) return std::nullopt;
  if (!text) return fail_with(text);
  const auto json = parse_json(*text);
  const auto number = [&json](const char* name) -> const Json* {
    if (!json || !json->is_object()) return nullptr;
    const auto member = json->find(name);
    return member == json->end() || !member->is_number_unsigned() ? nullptr : &*member;
  };
  const Json* out = number("out");
  const Json* err = number("err");
  if (out == nullptr || err == nullptr) {
    return fail(ErrorCode::corrupt, (path_ / "sealed").string() + " is not what we wrote");
  }
  const auto holes = json->find("holes");
  return segment::StreamEnds{.out = out->get<std::uint64_t>(),
                             .err = err->get<std::uint64_t>(),
                             .holes = holes != json->end() && *holes == true};
}

Result<std::int64_t> LogDirectory::seal() const {
  if (auto made = make_private_directory(path_); !made) return fail_with(made);
  const auto numbers = attempts();
  if (!numbers) return fail_with(numbers);
  segment::StreamEnds ends;
  std::int64_t grown = 0;
  for (const std::uint32_t attempt : *numbers) {
    const auto settled = settle(segment(attempt), attempt);
    if (!settled) return fail_with(settled);
    ends = ends + settled->ends;
    grown -= static_cast<std::int64_t>(settled->cut);
  }
  const Json marker = {{"out", ends.out}, {"err", ends.err}, {"holes", ends.holes}};
  const std::string text = dump_json(marker) + "\n";
  // Syncs the directory as well, and so the names of the segments.
  if (auto written = write_file_durably(path_ / "sealed", text); !written) return fail_with(written);
  return grown + static_cast<std::int64_t>(text.size());
}

Result<segment::StreamEnds> LogDirectory::measure(std::uint32_t before) const {
  const auto numbers = attempts();
  if (!numbers) return fail_with(numbers);
  segment::StreamEnds sum;
  for (const std::uint32_t attempt : *numbers) {
    if (attempt >= before) break;
    const auto file = open_segment(attempt);
    if (!file) return fail_with(file);
    const auto scan = segment::scan_segment(file->get(), attempt, segment::Depth::header);
    if (!scan) return fail_with(scan);
    sum = sum + scan->ends;
  }
  return sum;
}

Result<Bytes> LogDirectory::remove() const {
  const auto size = size_of_tree(path_);
  if (!size) return fail_with(size);
  std::error_code error;
  fs::remove_all(path_, error);
  if (error) return fail_on(path_, "remove", error);
  return *size;
}

}  // namespace mayfly
