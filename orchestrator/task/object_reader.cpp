// The part of spec_fields.hpp that keeps account of an object's keys.
#include <algorithm>

#include "base/utf8.hpp"
#include "task/base64.hpp"
#include "task/spec_fields.hpp"

namespace mayfly {

ObjectReader::ObjectReader(const Json& value, std::string pointer, FaultList& faults)
    : ObjectReader(value.is_object() ? &value : nullptr, std::move(pointer), faults) {
  if (object_ == nullptr) Field(&value, pointer_, faults).as_map(0);  // says what is wrong
}

Field ObjectReader::optional(std::string_view name) {
  known_.push_back(name);
  const Json* value = nullptr;
  if (object_ != nullptr) {
    const auto found = object_->find(name);
    if (found != object_->end()) value = &*found;
  }
  return {value, pointer_to(pointer_, name), *faults_};
}

Field ObjectReader::required(std::string_view name) {
  auto field = optional(name);
  if (!field && object_ != nullptr) field.add_fault("required", "missing; it must be given");
  return field;
}

void ObjectReader::forbid(std::span<const std::string_view> names, std::string_view why) {
  forbidden_ = names;
  forbidden_why_ = why;
}

bool ObjectReader::is_known(std::string_view key) const {
  return std::find(known_.begin(), known_.end(), key) != known_.end();
}

bool ObjectReader::report_forbidden(const std::string& key) const {
  const auto folded = fold_name(shorten_text(key, 64));
  const auto is_same = [&](std::string_view name) { return fold_name(name) == folded; };
  const auto found = std::find_if(forbidden_.begin(), forbidden_.end(), is_same);
  if (found == forbidden_.end()) return false;
  faults_->add(pointer_to(pointer_, key), "forbidden_" + std::string(*found), forbidden_why_);
  return true;
}

void ObjectReader::finish() {
  if (object_ == nullptr) return;
  for (const auto& [key, value] : object_->items()) {
    if (is_known(key) || report_forbidden(key)) continue;
    std::string detail = "no such field";
    if (const auto similar = find_similar(key, known_))
      detail += "; did you mean \"" + std::string(*similar) + "\"?";
    faults_->add(pointer_to(pointer_, key), "unknown_field", std::move(detail));
  }
}

std::optional<std::string> read_bytes(ObjectReader& fields, std::string_view name,
                                      std::string_view name_base64, TextBounds bounds) {
  const auto text = fields.optional(name);
  const auto base64 = fields.optional(name_base64);
  if (text && base64) {
    base64.add_fault("conflict",
                     "give either " + std::string(name) + " or " + std::string(name_base64) + ", not both");
    return std::nullopt;
  }
  return base64 ? base64.as_base64(bounds) : text.as_content(bounds);
}

void put_bytes(Json& json, const std::string& name, std::string_view bytes) {
  if (is_utf8(bytes)) {
    json[name] = bytes;
  } else {
    json[name + "_base64"] = encode_base64(bytes);
  }
}

}  // namespace mayfly
