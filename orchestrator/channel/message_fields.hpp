// Reading and writing the members of a channel message. Internal to channel/. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json.hpp"

namespace mayfly::channel {

// The members of an object as JSON text without the braces: what Link::send_* takes.
std::string members_of(const Json& object);

// Bytes as a JSON string, or {"b64": "…"} when they are not UTF-8.
Json bytes_to_json(std::string_view bytes);
Result<std::string> bytes_from_json(const Json& value);

// Reads members of one object and remembers the first that is missing or of a wrong type.
class FieldReader {
 public:
  explicit FieldReader(const Json& body) : body_(body) {}
  std::string text(const char* key);
  std::string bytes(const char* key);  // text or {"b64"}
  std::uint64_t count(const char* key);
  std::int64_t integer(const char* key);
  bool flag(const char* key);
  const Json& object(const char* key);
  const Json& array(const char* key);
  bool has(const char* key) const {
    return body_.is_object() && body_.contains(key) && !body_.at(key).is_null();
  }
  void refuse(const std::string& why);
  bool ok() const { return fault_.empty(); }
  // `value` when every member was right, else protocol naming the message and the member.
  template <class T>
  Result<T> finish(std::string_view message, T value) const {
    if (ok()) return value;
    return fail(ErrorCode::protocol, "channel: " + std::string(message) + ": " + fault_);
  }

 private:
  const Json* find(const char* key);

  const Json& body_;
  std::string fault_;
};

}  // namespace mayfly::channel
