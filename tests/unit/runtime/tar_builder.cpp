#include "tar_builder.hpp"

#include <archive.h>
#include <archive_entry.h>

#include <stdexcept>

namespace mayfly::test {
namespace {

la_ssize_t append(archive*, void* text, const void* data, std::size_t size) {
  static_cast<std::string*>(text)->append(static_cast<const char*>(data), size);
  return static_cast<la_ssize_t>(size);
}

unsigned file_type(TarEntry::Kind kind) {
  switch (kind) {
    case TarEntry::Kind::file:
      return AE_IFREG;
    case TarEntry::Kind::directory:
      return AE_IFDIR;
    case TarEntry::Kind::symlink:
      return AE_IFLNK;
  }
  return 0;
}

void write_entry(archive* writer, const TarEntry& entry) {
  archive_entry* header = archive_entry_new();
  archive_entry_set_pathname(header, entry.path.c_str());
  archive_entry_set_filetype(header, file_type(entry.kind));
  archive_entry_set_perm(header, static_cast<__LA_MODE_T>(entry.mode));
  archive_entry_set_uid(header, entry.uid);
  archive_entry_set_gid(header, entry.uid);
  const bool has_content = entry.kind == TarEntry::Kind::file;
  if (has_content) archive_entry_set_size(header, static_cast<la_int64_t>(entry.content.size()));
  if (entry.kind == TarEntry::Kind::symlink) archive_entry_set_symlink(header, entry.content.c_str());
  const int wrote = archive_write_header(writer, header);
  archive_entry_free(header);
  if (wrote != ARCHIVE_OK) throw std::runtime_error("tar header");
  if (has_content) archive_write_data(writer, entry.content.data(), entry.content.size());
}

}  // namespace

std::string build_tar(const std::vector<TarEntry>& entries) {
  std::string tar;
  archive* writer = archive_write_new();
  archive_write_set_format_pax_restricted(writer);
  archive_write_open(writer, &tar, nullptr, append, nullptr);
  for (const TarEntry& entry : entries) write_entry(writer, entry);
  archive_write_free(writer);
  return tar;
}

std::vector<TarEntry> read_tar(const std::string& tar) {
  std::vector<TarEntry> entries;
  archive* reader = archive_read_new();
  archive_read_support_format_tar(reader);
  archive_read_open_memory(reader, tar.data(), tar.size());
  archive_entry* header = nullptr;
  while (archive_read_next_header(reader, &header) == ARCHIVE_OK) {
    TarEntry entry;
    const auto type = archive_entry_filetype(header);
    entry.kind = type == AE_IFDIR ? TarEntry::Kind::directory : TarEntry::Kind::file;
    entry.path = archive_entry_pathname(header);
    entry.mode = archive_entry_perm(header);
    entry.uid = static_cast<int>(archive_entry_uid(header));
    entry.content.resize(static_cast<std::size_t>(archive_entry_size(header)));
    archive_read_data(reader, entry.content.data(), entry.content.size());
    entries.push_back(std::move(entry));
  }
  archive_read_free(reader);
  return entries;
}

}  // namespace mayfly::test
