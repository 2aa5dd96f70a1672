#include "policy/yaml_text.hpp"

#include <algorithm>
#include <array>

#include "base/utf8.hpp"
#include "policy/yaml.hpp"

namespace mayfly {
namespace {

constexpr auto kMostFlowIndicators = static_cast<std::ptrdiff_t>(yaml_limits::kFlowIndicators);

tl::unexpected<Error> refuse(const SourcePlace& place, std::string code, const std::string& detail) {
  const std::string where = to_string(place);
  return fail(ErrorCode::invalid_argument, where + ": " + detail,
              {FieldFault{where, std::move(code), detail}});
}

SourcePlace place_at(std::string_view text, std::size_t offset, const std::string& file_name) {
  const std::string_view before = text.substr(0, offset);
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const std::size_t line_begin = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  return {file_name, static_cast<int>(lines) + 1, static_cast<int>(offset - line_begin) + 1};
}

std::string with_unix_line_ends(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
    out.push_back(text[i]);
  }
  return out;
}

bool is_unwanted_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\t' && c != '\n') || byte == 0x7f;
}

bool is_flow_indicator(char c) {
  return c == '[' || c == '{' || c == ',';
}

}  // namespace

Result<YamlText> YamlText::make(std::string_view text, const std::string& file_name) {
  const SourcePlace top{file_name, 1, 1};
  if (text.size() > yaml_limits::kBytes)
    return refuse(top, "too_large",
                  "the file is " + std::to_string(text.size()) + " bytes long; at most 1 MiB is read");
  if (std::count_if(text.begin(), text.end(), is_flow_indicator) > kMostFlowIndicators)
    return refuse(
        top, "too_large",
        "the file holds more than 300,000 brackets and commas; a task can carry such data in base64");
  if (!is_utf8(text)) return refuse(top, "bad_encoding", "the file is not UTF-8");
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  YamlText clean(with_unix_line_ends(text));
  const std::string& all = clean.text_;
  const auto control = std::find_if(all.begin(), all.end(), is_unwanted_control);
  if (control != all.end()) {
    const auto place = place_at(all, static_cast<std::size_t>(control - all.begin()), file_name);
    return refuse(place, "bad_encoding",
                  "a control character; write it as an escape in double quotes (\"\\x1b\")");
  }
  // yaml-cpp skips directives, known or not, also between documents.
  const std::size_t directive = all.starts_with('%') ? 0 : all.find("\n%");
  if (directive != std::string::npos) {
    const auto place = place_at(all, all[directive] == '%' ? directive : directive + 1, file_name);
    return refuse(place, "forbidden_directive", "directives (%YAML, %TAG) are not taken; remove the line");
  }
  return clean;
}

bool YamlText::is_indented_by_tab(std::size_t offset) const {
  bool tab = false;
  for (std::size_t i = std::min(offset, text_.size()); i > 0; --i) {
    const char c = text_[i - 1];
    if (c == '\n') return tab;
    if (c != ' ' && c != '\t') return false;
    tab = tab || c == '\t';
  }
  return tab;
}

bool YamlText::has_tab_indentation(int line) const {
  std::size_t begin = 0;
  for (int i = 1; i < line; ++i) {
    const std::size_t end = text_.find('\n', begin);
    if (end == std::string::npos) return false;
    begin = end + 1;
  }
  const std::size_t word = std::min(text_.find_first_not_of(" \t", begin), text_.size());
  return is_indented_by_tab(word);
}

bool YamlText::is_quote_closed(std::size_t offset) const {
  const char quote = at(offset);
  for (std::size_t i = offset + 1; i < text_.size(); ++i) {
    if (quote == '"' && text_[i] == '\\') {
      ++i;
    } else if (text_[i] == quote) {
      if (quote == '"' || at(i + 1) != quote) return true;
      ++i;  // '' within single quotes is one quote
    }
  }
  return false;
}

std::string_view YamlText::null_spelling(std::size_t offset) const {
  static constexpr std::array<std::string_view, 4> kSpellings{"~", "null", "Null", "NULL"};
  const std::string_view rest = std::string_view(text_).substr(std::min(offset, text_.size()));
  const auto found = std::find_if(kSpellings.begin(), kSpellings.end(),
                                  [rest](std::string_view spelling) { return rest.starts_with(spelling); });
  return found == kSpellings.end() ? std::string_view{} : *found;
}

}  // namespace mayfly
