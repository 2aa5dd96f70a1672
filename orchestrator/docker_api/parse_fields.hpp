// Reads the fields of one JSON object of the engine's: unknown fields pass, null and absent ones are the
// default, a field of another type is a fault. Used by parse_answers. One owner.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/json.hpp"

namespace mayfly::docker {

class Fields {
 public:
  // `what` names the object in faults ("the container"). `object` must outlive this.
  Fields(const Json& object, std::string what);

  std::string text(std::string_view key);
  std::string required_text(std::string_view key);  // absent, null or empty is a fault
  std::int64_t integer(std::string_view key);
  std::optional<std::int64_t> optional_integer(std::string_view key);
  bool flag(std::string_view key);
  std::vector<std::string> texts(std::string_view key);
  std::map<std::string, std::string> text_map(std::string_view key);
  std::vector<std::string> keys(std::string_view key);  // of an object
  const Json& list(std::string_view key);               // an empty list when absent
  const Json& object(std::string_view key);             // an empty object when absent

  void require(bool holds, std::string_view fault);
  // protocol: the first fault that was met.
  Result<void> check() const;

 private:
  const Json* find(std::string_view key) const;
  void wrong(std::string_view key, std::string_view expected);

  const Json* object_;
  std::string what_;
  std::optional<Error> fault_;
};

}  // namespace mayfly::docker
