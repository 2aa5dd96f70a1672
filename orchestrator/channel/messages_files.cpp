#include "channel/message_fields.hpp"
#include "channel/messages.hpp"

namespace mayfly::channel {
namespace {

std::vector<std::string> read_list(FieldReader& read, const char* key) {
  std::vector<std::string> list;
  for (const Json& element : read.array(key)) {
    auto text = bytes_from_json(element);
    if (!text) {
      read.refuse(std::string(key) + " holds something that is " + text.error().message);
      return {};
    }
    list.push_back(std::move(*text));
  }
  return list;
}

Json list_to_json(const std::vector<std::string>& list) {
  Json array = Json::array();
  for (const std::string& text : list) array.push_back(bytes_to_json(text));
  return array;
}

}  // namespace

std::string FilesList::members() const {
  return members_of(
      {{"patterns", list_to_json(patterns)}, {"after", bytes_to_json(after)}, {"limit", limit}});
}

Result<FilesList> parse_files_list(const Json& body) {
  FieldReader read(body);
  FilesList request{.patterns = read_list(read, "patterns"),
                    .after = read.bytes("after"),
                    .limit = static_cast<std::uint32_t>(read.count("limit"))};
  return read.finish("files.list", std::move(request));
}

std::string FilesPage::members() const {
  Json array = Json::array();
  for (const FileEntry& file : files) {
    array.push_back(Json{{"path", bytes_to_json(file.path)}, {"size", file.size}, {"mode", file.mode}});
  }
  return members_of({{"files", std::move(array)}, {"more", more}, {"skipped", list_to_json(skipped)}});
}

Result<FilesPage> parse_files_page(const Json& body) {
  FieldReader read(body);
  FilesPage page;
  for (const Json& element : read.array("files")) {
    FieldReader file(element);
    page.files.push_back({.path = file.bytes("path"),
                          .size = file.count("size"),
                          .mode = static_cast<std::uint32_t>(file.count("mode"))});
    if (!file.ok()) read.refuse("files holds an incomplete entry");
  }
  page.more = read.flag("more");
  page.skipped = read_list(read, "skipped");
  return read.finish("files.list", std::move(page));
}

std::string FilesRead::members() const {
  return members_of({{"path", bytes_to_json(path)}, {"off", offset}, {"len", length}});
}

Result<FilesRead> parse_files_read(const Json& body) {
  FieldReader read(body);
  FilesRead request{.path = read.bytes("path"),
                    .offset = read.count("off"),
                    .length = static_cast<std::uint32_t>(read.count("len"))};
  return read.finish("files.read", std::move(request));
}

std::string FileChunk::members() const {
  return members_of({{"size", size}, {"end", end}});
}

Result<FileChunk> parse_file_chunk(const Json& body) {
  FieldReader read(body);
  const FileChunk chunk{.size = read.count("size"), .end = read.flag("end")};
  return read.finish("files.read", chunk);
}

}  // namespace mayfly::channel
