// What the policy tests share: short ways to read a text, and to look at what was said about it.
#pragma once

#include <algorithm>
#include <string>

#include "policy/policy.hpp"

namespace mayfly::test {

inline std::string policy_text(const std::string& spec) {
  return "apiVersion: mayfly.dev/v1\nkind: Policy\nspec:\n" + spec;
}

// The faults of a refused value, one a line: "code at pointer: detail"; "accepted" when it was not refused.
template <class T>
std::string faults_of(const Result<T>& result) {
  if (result) return "accepted";
  std::string all;
  for (const auto& fault : result.error().fields)
    all += fault.code + " at " + fault.pointer + ": " + fault.detail + "\n";
  return all;
}

template <class T>
std::vector<std::string> codes_of(const Result<T>& result) {
  std::vector<std::string> codes;
  if (!result) {
    for (const auto& fault : result.error().fields) codes.push_back(fault.code);
  }
  return codes;
}

}  // namespace mayfly::test
