// What may be bound to a statement: the types of our records, as SQLite's four. Values; any thread.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/clock.hpp"
#include "base/ids.hpp"

namespace mayfly {

// Bytes that need not be UTF-8.
struct SqlBlob {
  std::string_view bytes;
};

// Refers to text; the statement copies it when it is bound. Unsigned 64-bit numbers keep their bits.
class SqlValue {
 public:
  using Variant = std::variant<std::nullptr_t, std::int64_t, std::string_view, SqlBlob>;

  SqlValue(std::integral auto number) : value_(static_cast<std::int64_t>(number)) {}
  SqlValue(std::string_view text) : value_(text) {}
  SqlValue(const std::string& text) : value_(std::string_view(text)) {}
  SqlValue(const char* text) : value_(std::string_view(text)) {}
  SqlValue(SqlBlob blob) : value_(blob) {}
  SqlValue(WallTime time) : value_(std::int64_t{time.time_since_epoch().count()}) {}
  template <class Tag>
  SqlValue(const Id<Tag>& id) : SqlValue(id.str()) {}
  template <class T>
  SqlValue(const std::optional<T>& value) : value_(nullptr) {
    if (value) *this = SqlValue(*value);
  }

  const Variant& variant() const { return value_; }

 private:
  Variant value_;
};

}  // namespace mayfly
