#include <algorithm>

#include "task/spec_parts.hpp"

namespace mayfly::spec_parts {
namespace {

constexpr std::size_t kMostNameBytes = 63;

bool is_alphanumeric(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Letters and digits at both ends; '-', '_' and '.' also between them.
bool is_label_word(std::string_view text) {
  const auto may_stand = [](char c) { return is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; };
  return !text.empty() && is_alphanumeric(text.front()) && is_alphanumeric(text.back()) &&
         std::all_of(text.begin(), text.end(), may_stand);
}

// The prefix of a key: a DNS name in lower case.
bool is_dns_name(std::string_view text) {
  const auto may_stand = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-' || c == '.';
  };
  return is_label_word(text) && std::all_of(text.begin(), text.end(), may_stand) &&
         text.find("..") == std::string_view::npos && text.find(".-") == std::string_view::npos &&
         text.find("-.") == std::string_view::npos;
}

bool is_label_key(std::string_view key) {
  if (key.size() > spec_limits::kLabelBytes) return false;
  if (const auto slash = key.find('/'); slash != std::string_view::npos) {
    if (!is_dns_name(key.substr(0, slash))) return false;
    key = key.substr(slash + 1);
  }
  return key.size() <= kMostNameBytes && is_label_word(key);
}

}  // namespace

void read_labels(ObjectReader& fields, TaskSpec& spec) {
  for (const auto& [key, field] : fields.optional("labels").as_map(spec_limits::kLabels)) {
    if (!is_label_key(key)) {
      field.add_fault(
          "bad_format",
          "a label's key is [dns-name/]name; the name has 1 to 63 letters, digits, '-', '_' or '.', with a "
          "letter or digit at both ends; 253 bytes in all");
      continue;
    }
    auto value = field.as_text({.most = spec_limits::kLabelBytes});
    if (!value) continue;
    if (!value->empty() && !is_label_word(*value)) {
      field.add_fault("bad_format",
                      "a label's value is empty, or letters, digits, '-', '_' or '.' with a letter or digit "
                      "at both ends");
      continue;
    }
    spec.labels.emplace(key, *std::move(value));
  }
}

}  // namespace mayfly::spec_parts
