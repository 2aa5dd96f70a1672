#include "task/workspace_path.hpp"

#include <algorithm>
#include <string>

namespace mayfly {
namespace {

constexpr std::size_t kMostPathBytes = 1024;
constexpr std::size_t kMostPartBytes = 255;  // Linux's NAME_MAX

tl::unexpected<Error> refuse(std::string why) {
  return fail(ErrorCode::invalid_argument, "a path in the workspace " + std::move(why));
}

Result<void> check_part(std::string_view part) {
  if (part.empty()) return refuse("has no empty part (a doubled or final '/')");
  if (part == "." || part == "..") return refuse("has no part \"" + std::string(part) + "\"");
  if (part.size() > kMostPartBytes) {
    return refuse("has parts of at most 255 bytes, not " + std::to_string(part.size()));
  }
  return {};
}

}  // namespace

Result<void> check_workspace_path(std::string_view path) {
  if (path.empty()) return refuse("is not empty");
  if (path.size() > kMostPathBytes) {
    return refuse("has at most 1024 bytes, not " + std::to_string(path.size()));
  }
  if (path.front() == '/') return refuse("is relative: it does not begin with '/'");
  if (path.find('\0') != std::string_view::npos) return refuse("holds no NUL");
  for (std::size_t begin = 0; begin <= path.size();) {
    const auto end = std::min(path.find('/', begin), path.size());
    if (auto checked = check_part(path.substr(begin, end - begin)); !checked) return checked;
    begin = end + 1;
  }
  return {};
}

}  // namespace mayfly
