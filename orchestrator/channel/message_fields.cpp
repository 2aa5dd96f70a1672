#include "channel/message_fields.hpp"

#include "base/utf8.hpp"
#include "task/base64.hpp"

namespace mayfly::channel {

std::string members_of(const Json& object) {
  const std::string text = dump_json(object);
  return text.substr(1, text.size() - 2);
}

Json bytes_to_json(std::string_view bytes) {
  if (is_utf8(bytes)) return std::string(bytes);
  return Json{{"b64", encode_base64(bytes)}};
}

Result<std::string> bytes_from_json(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_object() && value.size() == 1 && value.contains("b64") && value["b64"].is_string()) {
    return decode_base64(value["b64"].get_ref<const std::string&>());
  }
  return fail(ErrorCode::protocol, "neither a string nor {\"b64\": …}");
}

void FieldReader::refuse(const std::string& why) {
  if (fault_.empty()) fault_ = why;
}

const Json* FieldReader::find(const char* key) {
  if (body_.is_object()) {
    const auto found = body_.find(key);
    if (found != body_.end()) return &*found;
  }
  refuse(std::string("member ") + key + " is missing");
  return nullptr;
}

std::string FieldReader::text(const char* key) {
  const Json* value = find(key);
  if (value != nullptr && value->is_string()) return value->get<std::string>();
  refuse(std::string("member ") + key + " is no string");
  return {};
}

std::string FieldReader::bytes(const char* key) {
  const Json* value = find(key);
  if (value == nullptr) return {};
  auto read = bytes_from_json(*value);
  if (read) return std::move(*read);
  refuse(std::string("member ") + key + " is " + read.error().message);
  return {};
}

std::uint64_t FieldReader::count(const char* key) {
  const Json* value = find(key);
  if (value != nullptr && value->is_number_unsigned()) return value->get<std::uint64_t>();
  refuse(std::string("member ") + key + " is no count");
  return 0;
}

std::int64_t FieldReader::integer(const char* key) {
  const Json* value = find(key);
  if (value != nullptr && value->is_number_integer()) return value->get<std::int64_t>();
  refuse(std::string("member ") + key + " is no integer");
  return 0;
}

bool FieldReader::flag(const char* key) {
  const Json* value = find(key);
  if (value != nullptr && value->is_boolean()) return value->get<bool>();
  refuse(std::string("member ") + key + " is neither true nor false");
  return false;
}

const Json& FieldReader::object(const char* key) {
  static const Json kEmpty = Json::object();
  const Json* value = find(key);
  if (value != nullptr && value->is_object()) return *value;
  refuse(std::string("member ") + key + " is no object");
  return kEmpty;
}

const Json& FieldReader::array(const char* key) {
  static const Json kEmpty = Json::array();
  const Json* value = find(key);
  if (value != nullptr && value->is_array()) return *value;
  refuse(std::string("member ") + key + " is no array");
  return kEmpty;
}

}  // namespace mayfly::channel
