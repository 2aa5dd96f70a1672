#include "support/tar_builder.hpp"

#include <cstdio>
#include <stdexcept>

namespace mayfly::test {

namespace {

constexpr std::size_t kBlock = 512;

// Offsets and widths of the fields of a ustar header (POSIX.1-1988, pax "ustar Interchange Format").
constexpr std::size_t kName = 0, kMode = 100, kUid = 108, kGid = 116, kSize = 124, kTime = 136,
                      kChecksum = 148, kType = 156, kLink = 157, kMagic = 257;
constexpr std::size_t kNameWidth = 100, kSizeWidth = 12, kNumberWidth = 8;

std::size_t padded(std::size_t size) {
  return (size + kBlock - 1) / kBlock * kBlock;
}

std::string octal(std::size_t value, std::size_t width) {
  char text[16];
  std::snprintf(text, sizeof text, "%0*zo", static_cast<int>(width - 1), value);
  return text;
}

std::string text_at(std::string_view block, std::size_t at, std::size_t width) {
  const std::string_view field = block.substr(at, width);
  return std::string(field.substr(0, field.find('\0')));
}

}  // namespace

TarBuilder& TarBuilder::directory(std::string_view path, unsigned mode) {
  header(path, '5', mode, 0, {});
  return *this;
}

TarBuilder& TarBuilder::file(std::string_view path, std::string_view content, unsigned mode) {
  header(path, '0', mode, content.size(), {});
  bytes_ += content;
  bytes_.append(padded(content.size()) - content.size(), '\0');
  return *this;
}

TarBuilder& TarBuilder::symlink(std::string_view path, std::string_view target) {
  header(path, '2', 0777, 0, target);
  return *this;
}

std::string TarBuilder::finish() const {
  return bytes_ + std::string(2 * kBlock, '\0');
}

void TarBuilder::header(std::string_view path, char type, unsigned mode, std::size_t size,
                        std::string_view link) {
  if (path.size() > kNameWidth || link.size() > kNameWidth)
    throw std::logic_error("a name too long for ustar");
  std::string block(kBlock, '\0');
  const auto put = [&block](std::size_t at, std::string_view text) { block.replace(at, text.size(), text); };
  put(kName, path);
  put(kMode, octal(mode, kNumberWidth));
  put(kUid, octal(0, kNumberWidth));
  put(kGid, octal(0, kNumberWidth));
  put(kSize, octal(size, kSizeWidth));
  put(kTime, octal(0, kSizeWidth));
  put(kChecksum, "        ");
  block[kType] = type;
  put(kLink, link);
  put(kMagic, std::string_view("ustar\00000", 8));
  std::size_t sum = 0;
  for (const char c : block) sum += static_cast<unsigned char>(c);
  put(kChecksum, octal(sum, 7));
  bytes_ += block;
}

std::string file_in_tar(std::string_view tar, std::string_view path) {
  while (tar.size() >= kBlock && tar[0] != '\0') {
    const std::size_t size = std::stoul(text_at(tar, kSize, kSizeWidth), nullptr, 8);
    if (text_at(tar, kName, kNameWidth) == path && tar[kType] == '0')
      return std::string(tar.substr(kBlock, size));
    tar.remove_prefix(std::min(tar.size(), kBlock + padded(size)));
  }
  return {};
}

}  // namespace mayfly::test
