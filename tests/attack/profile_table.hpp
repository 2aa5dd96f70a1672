// The table of a live sandbox: what was wanted, what the engine's inspect says, what the kernel does.
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"

namespace mayfly::test {

struct ProfileRow {
  std::string field, wanted;
  std::string inspect;  // "-": not asked
  std::string kernel;   // "-": not asked
};

class ProfileTable {
 public:
  explicit ProfileTable(Json inspect) : inspect_(std::move(inspect)) {}

  // `pointer` into inspect ("/HostConfig/Memory"); its value as text, "none" for null, "", [] and {}.
  void both(const std::string& pointer, const std::string& wanted, const std::string& kernel);
  void inspected(const std::string& pointer, const std::string& wanted) { both(pointer, wanted, "-"); }
  void observed(const std::string& field, const std::string& wanted, const std::string& kernel);

  std::vector<ProfileRow> differences() const;
  std::string text() const;  // for people, aligned; a difference is marked

 private:
  Json inspect_;
  std::vector<ProfileRow> rows_;
};

}  // namespace mayfly::test
