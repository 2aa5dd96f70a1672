// The table of routes: method and pattern to handler. Built once, then read only; any thread.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "http/http_types.hpp"
#include "http/url.hpp"

namespace mayfly::http {

// The request outlives the coroutine.
using Handler = std::function<Async<Response>(const Request&)>;

enum class Access { authenticated, everyone };
enum class BodyRule { none, empty_or_json, task_spec };

struct Route {
  std::string method;   // GET also answers HEAD
  std::string pattern;  // "/v1/tasks/{id}/artifacts/{path...}": the last form takes all that is left
  std::vector<std::string> query{};  // the parameters it knows; others are refused
  BodyRule body = BodyRule::none;
  Access access = Access::authenticated;
  Handler handler{};
};

struct RouteMatch {
  const Route* route = nullptr;  // null: no such path, or no such method there
  std::string allow;             // methods of the path, for Allow; empty: no such path
  std::map<std::string, std::string> params;
};

class Router {
 public:
  explicit Router(std::vector<Route> routes);
  // invalid_argument for a path that no route could have (V07); a match without route otherwise.
  Result<RouteMatch> find(std::string_view method, std::string_view path) const;
  const std::vector<Route>& routes() const { return routes_; }

 private:
  std::vector<Route> routes_;
  std::vector<std::vector<std::string>> patterns_;  // of routes_, split
};

}  // namespace mayfly::http
