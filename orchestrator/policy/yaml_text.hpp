// What must be known of a YAML text beside yaml-cpp's events: that it is clean UTF-8 of bounded size, where
// tabs indent, whether a quote is closed, how a null was spelled. Used by yaml.cpp only. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/error.hpp"

namespace mayfly {

class YamlText {
 public:
  // Checks size, encoding, control characters and directives; line ends become "\n" and a byte order mark
  // goes, so that yaml-cpp's mark positions are offsets into `str()`.
  static Result<YamlText> make(std::string_view text, const std::string& file_name);

  const std::string& str() const { return text_; }
  char at(std::size_t offset) const { return offset < text_.size() ? text_[offset] : '\0'; }
  // Whether only blanks, one of them a tab, stand between the line's begin and the offset.
  bool is_indented_by_tab(std::size_t offset) const;
  // The same for the first word of a line (from 1).
  bool has_tab_indentation(int line) const;
  // yaml-cpp 0.7 takes a quoted scalar that the end of the file cuts off after a line end: whatever follows
  // the quote, keys included, would silently be text. `offset` is the opening quote.
  bool is_quote_closed(std::size_t offset) const;
  // "null", "~", …: empty when nothing was written.
  std::string_view null_spelling(std::size_t offset) const;

 private:
  explicit YamlText(std::string text) : text_(std::move(text)) {}

  std::string text_;
};

}  // namespace mayfly
