// Helpers of the task spec tests: the least spec that is right, and the faults of one that is not.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>

#include "task/task_spec.hpp"

namespace mayfly {

inline Json minimal_spec() {
  return {{"image", "busybox"}, {"command", {"true"}}};
}

// The minimal spec with one more field, or another value of one.
inline Json spec_with(const std::string& name, Json value) {
  auto json = minimal_spec();
  json[name] = std::move(value);
  return json;
}

// "pointer code" of each fault, sorted; empty when the spec is accepted.
inline std::vector<std::string> faults_of(const Json& json) {
  std::vector<std::string> faults;
  const auto spec = parse_task_spec(json);
  if (spec) return faults;
  CHECK(spec.error().code == ErrorCode::invalid_argument);
  for (const auto& fault : spec.error().fields) {
    CHECK_FALSE(fault.detail.empty());
    faults.push_back(fault.pointer + " " + fault.code);
  }
  std::sort(faults.begin(), faults.end());
  return faults;
}

using Faults = std::vector<std::string>;

// The detail of the first fault.
inline std::string first_detail_of(const Json& json) {
  const auto spec = parse_task_spec(json);
  REQUIRE_FALSE(spec);
  REQUIRE_FALSE(spec.error().fields.empty());
  return spec.error().fields.front().detail;
}

}  // namespace mayfly
