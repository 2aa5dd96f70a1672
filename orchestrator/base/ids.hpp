// Identifiers as types, so that a task's id never passes for an attempt's. Values; any thread.
// Text form: prefix + 26 characters of lower-case Crockford base32 of a UUIDv7 (RFC 9562): sorts by creation
// time, is safe in URLs, file names and engine object names.
#pragma once

#include <compare>
#include <functional>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace mayfly {

template <class Tag>
class Id {
 public:
  Id() = default;
  explicit Id(std::string text) : text_(std::move(text)) {}
  const std::string& str() const { return text_; }
  bool empty() const { return text_.empty(); }
  static constexpr std::string_view prefix() { return Tag::kPrefix; }
  friend auto operator<=>(const Id&, const Id&) = default;

 private:
  std::string text_;
};

struct TaskTag {
  static constexpr std::string_view kPrefix = "tsk_";
};
struct AttemptTag {
  static constexpr std::string_view kPrefix = "att_";
};
struct SandboxTag {
  static constexpr std::string_view kPrefix = "sbx_";
};
struct TenantTag {
  static constexpr std::string_view kPrefix{};
};  // a name from the policy, not generated
struct InstallationTag {
  static constexpr std::string_view kPrefix = "ins_";
};

using TaskId = Id<TaskTag>;
using AttemptId = Id<AttemptTag>;
using SandboxId = Id<SandboxTag>;
using TenantId = Id<TenantTag>;
using InstallationId = Id<InstallationTag>;

// 128 bits from getrandom(2) and the wall clock, monotonic within the process. Thread safe.
std::string make_uuid7_base32();
// `n` random bytes as lower-case hex (nonces, tokens). Never fails: getrandom(2) blocks until it can answer.
std::string make_random_hex(std::size_t n);
bool is_id_text(std::string_view prefix, std::string_view text);

template <class IdType>
IdType make_id() {
  return IdType(std::string(IdType::prefix()) + make_uuid7_base32());
}

// Refuses anything that is not exactly prefix + 26 base32 characters: safe to use in paths afterwards.
template <class IdType>
Result<IdType> parse_id(std::string_view text) {
  if (!is_id_text(IdType::prefix(), text)) return fail(ErrorCode::not_found, "no such id");
  return IdType(std::string(text));
}

}  // namespace mayfly

template <class Tag>
struct std::hash<mayfly::Id<Tag>> {
  std::size_t operator()(const mayfly::Id<Tag>& id) const { return std::hash<std::string>{}(id.str()); }
};
