#include "runtime/docker/runner_archive.hpp"

#include <archive.h>
#include <archive_entry.h>

#include <memory>
#include <new>
#include <stdexcept>

namespace mayfly::docker {
namespace {

struct FreeWriter {
  void operator()(archive* writer) const { archive_write_free(writer); }
};
struct FreeReader {
  void operator()(archive* reader) const { archive_read_free(reader); }
};
struct FreeEntry {
  void operator()(archive_entry* entry) const { archive_entry_free(entry); }
};

extern "C" la_ssize_t append_to_string(archive*, void* text, const void* data, std::size_t size) {
  static_cast<std::string*>(text)->append(static_cast<const char*>(data), size);
  return static_cast<la_ssize_t>(size);
}

// Writing to memory fails only for want of memory or by our own mistake.
void require(archive* writer, int result) {
  if (result != ARCHIVE_OK)
    throw std::runtime_error(std::string("writing a tar archive: ") + archive_error_string(writer));
}

// One entry of root's, dated 1970, so that equal content makes an equal archive.
std::string make_archive(const char* path, unsigned type, unsigned mode, std::string_view content) {
  std::string tar;
  const std::unique_ptr<archive, FreeWriter> writer(archive_write_new());
  const std::unique_ptr<archive_entry, FreeEntry> entry(archive_entry_new());
  if (!writer || !entry) throw std::bad_alloc();
  require(writer.get(), archive_write_set_format_ustar(writer.get()));
  require(writer.get(), archive_write_open(writer.get(), &tar, nullptr, append_to_string, nullptr));
  archive_entry_set_pathname(entry.get(), path);
  archive_entry_set_filetype(entry.get(), type);
  archive_entry_set_perm(entry.get(), static_cast<__LA_MODE_T>(mode));
  archive_entry_set_size(entry.get(), static_cast<la_int64_t>(content.size()));
  require(writer.get(), archive_write_header(writer.get(), entry.get()));
  const auto written = archive_write_data(writer.get(), content.data(), content.size());
  if (written != static_cast<la_ssize_t>(content.size()))
    throw std::runtime_error("writing a tar archive: short write");
  require(writer.get(), archive_write_close(writer.get()));
  return tar;
}

bool is_roots(archive_entry* entry) {
  return archive_entry_uid(entry) == 0 && archive_entry_gid(entry) == 0;
}

bool is_directory(archive_entry* entry) {
  return archive_entry_filetype(entry) == AE_IFDIR && is_roots(entry) &&
         (archive_entry_perm(entry) & 022U) == 0;
}

bool is_runner(archive_entry* entry, std::string_view binary) {
  return archive_entry_filetype(entry) == AE_IFREG && archive_entry_hardlink(entry) == nullptr &&
         is_roots(entry) && archive_entry_perm(entry) == 0555 &&
         archive_entry_size(entry) == static_cast<la_int64_t>(binary.size());
}

bool has_content(archive* reader, std::string_view binary) {
  std::string content(binary.size(), '\0');
  const auto got = archive_read_data(reader, content.data(), content.size());
  return got == static_cast<la_ssize_t>(binary.size()) && content == binary;
}

// The path without "./" and a final slash.
std::string_view plain_path(archive_entry* entry) {
  const char* text = archive_entry_pathname(entry);
  std::string_view path = text == nullptr ? "" : text;
  if (path.starts_with("./")) path.remove_prefix(2);
  if (path.ends_with('/')) path.remove_suffix(1);
  return path;
}

}  // namespace

std::string make_runner_archive(std::string_view binary) {
  return make_archive("runner", AE_IFREG, 0555, binary);
}

std::string make_helper_image_archive() {
  return make_archive(".mayfly/", AE_IFDIR, 0755, "");
}

Result<RunnerVolumeContent> check_runner_archive(std::string_view archive_bytes, std::string_view binary) {
  const std::unique_ptr<archive, FreeReader> reader(archive_read_new());
  if (!reader) throw std::bad_alloc();
  archive_read_support_format_tar(reader.get());
  if (archive_read_open_memory(reader.get(), archive_bytes.data(), archive_bytes.size()) != ARCHIVE_OK) {
    return fail(ErrorCode::protocol, "reading the runner's volume: the engine's answer is no tar archive");
  }
  bool has_directory = false, has_runner = false;
  for (;;) {
    archive_entry* entry = nullptr;
    const int next = archive_read_next_header(reader.get(), &entry);
    if (next == ARCHIVE_EOF) break;
    if (next != ARCHIVE_OK) {
      return fail(ErrorCode::protocol, "reading the runner's volume: the engine's tar archive is damaged");
    }
    const std::string_view path = plain_path(entry);
    if (path == ".mayfly" && !has_directory && is_directory(entry)) {
      has_directory = true;
    } else if (path == ".mayfly/runner" && !has_runner && is_runner(entry, binary) &&
               has_content(reader.get(), binary)) {
      has_runner = true;
    } else {
      return RunnerVolumeContent::wrong;
    }
  }
  if (!has_directory) return RunnerVolumeContent::wrong;
  return has_runner ? RunnerVolumeContent::right : RunnerVolumeContent::empty;
}

}  // namespace mayfly::docker
