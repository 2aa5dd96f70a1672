// The members of times and usage by name, for the shown and the stored JSON alike. Internal to task/. Pure.
#pragma once

#include <array>

#include "task/task_record.hpp"

namespace mayfly {

struct TimeField {
  const char* name;
  std::optional<WallTime> PhaseTimes::*member;
};
inline constexpr std::array kTimeFields = {
    TimeField{"submitted", &PhaseTimes::submitted},       TimeField{"scheduled", &PhaseTimes::scheduled},
    TimeField{"prepared", &PhaseTimes::prepared},         TimeField{"bound", &PhaseTimes::bound},
    TimeField{"first_output", &PhaseTimes::first_output}, TimeField{"ended", &PhaseTimes::ended},
    TimeField{"verdict", &PhaseTimes::verdict},           TimeField{"destroyed", &PhaseTimes::destroyed}};
static_assert(sizeof(PhaseTimes) == kTimeFields.size() * sizeof(std::optional<WallTime>),
              "a member has no name");

struct UsageField {
  const char* name;
  std::uint64_t Usage::*member;
};
inline constexpr std::array kUsageFields = {UsageField{"cpu_ms", &Usage::cpu_ms},
                                            UsageField{"memory_bytes", &Usage::memory_bytes},
                                            UsageField{"memory_peak_bytes", &Usage::memory_peak_bytes},
                                            UsageField{"pids", &Usage::pids},
                                            UsageField{"pids_peak", &Usage::pids_peak},
                                            UsageField{"stalled_ms", &Usage::stalled_ms}};
static_assert(sizeof(Usage) == kUsageFields.size() * sizeof(std::uint64_t), "a member has no name");

inline Json to_json(const Usage& usage) {
  Json json = Json::object();
  for (const auto& field : kUsageFields) json[field.name] = usage.*field.member;
  return json;
}

inline Json to_json(const std::vector<LimitHit>& hits) {
  Json json = Json::array();
  for (const auto hit : hits) json.push_back(name_of(hit));
  return json;
}

}  // namespace mayfly
