#include "http/router.hpp"

#include <optional>
#include <set>

namespace mayfly::http {
namespace {

std::vector<std::string> split(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    path.remove_prefix(1);  // the '/'
    const std::size_t slash = path.find('/');
    parts.emplace_back(path.substr(0, slash));
    path = slash == std::string_view::npos ? std::string_view() : path.substr(slash);
  }
  return parts;
}

bool is_capture(std::string_view part) {
  return part.starts_with('{');
}
bool takes_the_rest(std::string_view part) {
  return part.ends_with("...}");
}

// Whether the raw (still encoded) segments fit the pattern. Fixed parts hold no character that needs
// encoding.
bool fits(const std::vector<std::string>& pattern, const std::vector<std::string>& raw) {
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (i >= raw.size()) return false;
    if (takes_the_rest(pattern[i])) return true;
    if (!is_capture(pattern[i]) && pattern[i] != raw[i]) return false;
  }
  return pattern.size() == raw.size();
}

std::string capture_name(std::string_view part) {
  return std::string(part.substr(1, part.size() - (takes_the_rest(part) ? 5 : 2)));
}

Result<std::map<std::string, std::string>> capture(const std::vector<std::string>& pattern,
                                                   const std::vector<std::string>& raw) {
  std::map<std::string, std::string> params;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    const std::string& part = pattern[std::min(i, pattern.size() - 1)];
    const bool rest = takes_the_rest(part);
    auto segment = decode_segment(raw[i], rest ? SegmentUse::file_part : SegmentUse::name);
    if (!segment) return fail_with(std::move(segment));
    if (!is_capture(part)) continue;
    std::string& value = params[capture_name(part)];
    value += (value.empty() ? "" : "/") + *segment;
  }
  return params;
}

// A path that matches nothing is still looked at: what can be no path at all is 400, not 404.
Result<void> check_segments(const std::vector<std::string>& raw) {
  for (std::size_t i = 0; i < raw.size(); ++i) {
    const bool last_and_empty = raw[i].empty() && i + 1 == raw.size();
    if (last_and_empty) continue;
    if (auto segment = decode_segment(raw[i], SegmentUse::name); !segment)
      return fail_with(std::move(segment));
  }
  return {};
}

}  // namespace

Router::Router(std::vector<Route> routes) : routes_(std::move(routes)) {
  for (const Route& route : routes_) patterns_.push_back(split(route.pattern));
}

Result<RouteMatch> Router::find(std::string_view method, std::string_view path) const {
  const std::vector<std::string> raw = split(path);
  RouteMatch match;
  std::set<std::string> allowed;
  std::optional<std::size_t> path_found;
  for (std::size_t i = 0; i < routes_.size(); ++i) {
    if (!fits(patterns_[i], raw)) continue;
    path_found = path_found.value_or(i);
    allowed.insert(routes_[i].method);
    if (routes_[i].method == "GET") allowed.insert("HEAD");
    if (!match.route && allowed.contains(std::string(method))) {
      match.route = &routes_[i];
      path_found = i;
    }
  }
  if (!path_found) {
    if (auto checked = check_segments(raw); !checked) return fail_with(std::move(checked));
    return match;
  }
  auto params = capture(patterns_[*path_found], raw);
  if (!params) return fail_with(std::move(params));
  match.params = std::move(*params);
  allowed.insert("OPTIONS");
  for (const std::string& name : allowed) match.allow += (match.allow.empty() ? "" : ", ") + name;
  return match;
}

}  // namespace mayfly::http
