#include "docker_api/parse_fields.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mayfly::docker {

namespace {

const Json& empty_object() {
  static const Json kObject = Json::object();
  return kObject;
}

const Json& empty_list() {
  static const Json kList = Json::array();
  return kList;
}

bool is_text(const Json& value) {
  return value.is_string();
}

}  // namespace

Fields::Fields(const Json& object, std::string what) : object_(&object), what_(std::move(what)) {
  if (object.is_object()) return;
  object_ = &empty_object();
  require(false, "no JSON object");
}

const Json* Fields::find(std::string_view key) const {
  const auto found = object_->find(key);
  return found == object_->end() || found->is_null() ? nullptr : &*found;
}

void Fields::require(bool holds, std::string_view fault) {
  if (holds || fault_) return;
  fault_ = Error{ErrorCode::protocol,
                 fmt::format("the engine's answer about {} cannot be read: {}", what_, fault)};
}

void Fields::wrong(std::string_view key, std::string_view expected) {
  require(false, fmt::format("{} is not {}", key, expected));
}

Result<void> Fields::check() const {
  if (fault_) return tl::unexpected<Error>(*fault_);
  return {};
}

std::string Fields::text(std::string_view key) {
  const Json* value = find(key);
  if (value == nullptr) return {};
  if (value->is_string()) return value->get<std::string>();
  wrong(key, "a text");
  return {};
}

std::string Fields::required_text(std::string_view key) {
  std::string value = text(key);
  if (value.empty()) wrong(key, "given");
  return value;
}

std::optional<std::int64_t> Fields::optional_integer(std::string_view key) {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_number_integer()) return value->get<std::int64_t>();
  wrong(key, "an integer");
  return std::nullopt;
}

std::int64_t Fields::integer(std::string_view key) {
  return optional_integer(key).value_or(0);
}

bool Fields::flag(std::string_view key) {
  const Json* value = find(key);
  if (value == nullptr) return false;
  if (value->is_boolean()) return value->get<bool>();
  wrong(key, "true or false");
  return false;
}

const Json& Fields::list(std::string_view key) {
  const Json* value = find(key);
  if (value == nullptr) return empty_list();
  if (value->is_array()) return *value;
  wrong(key, "a list");
  return empty_list();
}

const Json& Fields::object(std::string_view key) {
  const Json* value = find(key);
  if (value == nullptr) return empty_object();
  if (value->is_object()) return *value;
  wrong(key, "an object");
  return empty_object();
}

std::vector<std::string> Fields::texts(std::string_view key) {
  const Json& values = list(key);
  if (std::all_of(values.begin(), values.end(), is_text)) return values.get<std::vector<std::string>>();
  wrong(key, "a list of texts");
  return {};
}

std::map<std::string, std::string> Fields::text_map(std::string_view key) {
  const Json& values = object(key);
  if (std::all_of(values.begin(), values.end(), is_text))
    return values.get<std::map<std::string, std::string>>();
  wrong(key, "an object of texts");
  return {};
}

std::vector<std::string> Fields::keys(std::string_view key) {
  std::vector<std::string> names;
  for (const auto& member : object(key).items()) names.push_back(member.key());
  return names;
}

}  // namespace mayfly::docker
