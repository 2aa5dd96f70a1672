// A strict, typed reader over JSON objects that people write: task specs, policies. Every fault is collected
// with its JSON pointer, so that one answer names them all. Pure; any thread.
//
//   ObjectReader spec(json, "", faults);
//   auto image = spec.required("image").as_text({.most = 255});
//   auto memory = spec.optional("memory").as_size();
//   spec.finish();                                    // every key not asked for is an unknown_field
//
// A reading is nullopt when the field is absent or wrong; when it is wrong, or required and absent, a fault
// was added.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "base/clock.hpp"
#include "base/json.hpp"
#include "task/field_names.hpp"

namespace mayfly {

// The faults found so far. Keeps the first kMostKept, so that a hostile document does not make a huge answer.
class FaultList {
 public:
  static constexpr std::size_t kMostKept = 50;
  void add(std::string pointer, std::string code, std::string detail);
  bool empty() const { return count_ == 0; }
  std::size_t count() const { return count_; }
  const std::vector<FieldFault>& kept() const { return faults_; }
  // "<what> has 2 faults; the first is /limits/memory: …", with `fields` filled.
  Error to_error(ErrorCode code, std::string_view what) const;

 private:
  std::vector<FieldFault> faults_;
  std::size_t count_ = 0;
};

// Both ends are accepted.
template <class T>
struct Range {
  T least;
  T most;
};

struct TextBounds {
  std::size_t least = 0;  // bytes
  std::size_t most = std::numeric_limits<std::size_t>::max();
};

// Keeps `into` as it is when there is nothing to take.
template <class T>
void take(T& into, std::optional<T> value) {
  if (value) into = *std::move(value);
}

class ObjectReader;

// One value of the document, or the place where it is absent. The document and the FaultList must outlive it.
class Field {
 public:
  Field(const Json* value, std::string pointer, FaultList& faults)
      : value_(value), pointer_(std::move(pointer)), faults_(&faults) {}

  explicit operator bool() const { return value_ != nullptr; }
  const std::string& pointer() const { return pointer_; }
  const Json* value() const { return value_; }
  FaultList& faults() const { return *faults_; }

  // UTF-8 text without NUL.
  std::optional<std::string> as_text(TextBounds bounds = {}) const;
  // UTF-8 text that may hold NUL: content of files.
  std::optional<std::string> as_content(TextBounds bounds = {}) const;
  // Text in base64; the bounds are those of the bytes.
  std::optional<std::string> as_base64(TextBounds bounds = {}) const;
  std::optional<bool> as_flag() const;
  std::optional<std::int64_t> as_integer(Range<std::int64_t> range) const;
  std::optional<std::uint64_t> as_count(Range<std::uint64_t> range) const;
  // A whole number of bytes or a quantity ("512Mi").
  std::optional<Bytes> as_size(Range<Bytes> range) const;
  // Processors, as a number (0.5) or a quantity ("500m"); in thousandths.
  std::optional<std::int64_t> as_millicpus(Range<std::int64_t> range) const;
  // Text with a unit ("30s", "1h30m").
  std::optional<Millis> as_duration(Range<Millis> range) const;
  // Text that `find` (name to optional value) knows; `expected` lists the names for the fault.
  template <class Find>
  auto as_named(Find find, std::string_view expected) const -> decltype(find(std::string_view{}));
  // The elements of a list, or the members of an object; empty when absent or wrong.
  std::vector<Field> as_list(std::size_t most) const;
  std::vector<std::pair<std::string, Field>> as_map(std::size_t most) const;
  // A reader over nothing when absent or wrong: all its fields are absent, and required ones are no further
  // faults.
  ObjectReader as_object() const;

  void add_fault(std::string code, std::string detail) const;

 private:
  std::optional<std::string> as_utf8(TextBounds bounds, std::string_view wanted) const;
  void add_wrong_type(std::string_view wanted) const;
  template <class T, class Format>
  std::optional<T> in_range(T value, Range<T> range, Format format) const;

  const Json* value_;
  std::string pointer_;
  FaultList* faults_;
};

// One object of the document. Names that are asked for must outlive the reader (they are literals).
class ObjectReader {
 public:
  // A value that is no object is a wrong_type, and is read as nothing.
  ObjectReader(const Json& value, std::string pointer, FaultList& faults);

  // Whether there is an object to read.
  explicit operator bool() const { return object_ != nullptr; }
  Field optional(std::string_view name);
  Field required(std::string_view name);
  bool has(std::string_view name) const { return object_ != nullptr && object_->contains(name); }
  // Keys that get a fault of their own instead of unknown_field: code "forbidden_<name>". Compared without
  // case, '_' and '-', so that "CapAdd" is cap_add.
  void forbid(std::span<const std::string_view> names, std::string_view why);
  // Reports every key that was not asked for, with the known name it probably means.
  void finish();

  const std::string& pointer() const { return pointer_; }
  FaultList& faults() const { return *faults_; }

 private:
  friend class Field;
  ObjectReader(const Json* object, std::string pointer, FaultList& faults)
      : object_(object), pointer_(std::move(pointer)), faults_(&faults) {}
  bool is_known(std::string_view key) const;
  bool report_forbidden(const std::string& key) const;

  const Json* object_;  // null: nothing to read
  std::string pointer_;
  FaultList* faults_;
  std::vector<std::string_view> known_;
  std::span<const std::string_view> forbidden_;
  std::string forbidden_why_;
};

// Bytes that stand either as text under `name` or in base64 under `name_base64`; both together are a fault.
std::optional<std::string> read_bytes(ObjectReader& fields, std::string_view name,
                                      std::string_view name_base64, TextBounds bounds = {});
// What read_bytes reads: text where it can be.
void put_bytes(Json& json, const std::string& name, std::string_view bytes);

template <class Find>
auto Field::as_named(Find find, std::string_view expected) const -> decltype(find(std::string_view{})) {
  const auto text = as_text();
  if (!text) return std::nullopt;
  auto found = find(std::string_view(*text));
  if (!found)
    add_fault("bad_format",
              "expected one of " + std::string(expected) + ", got \"" + shorten_text(*text, 40) + "\"");
  return found;
}

}  // namespace mayfly
