#include "http/handlers/task_list.hpp"

#include "base/digest.hpp"
#include "http/handlers/parameters.hpp"
#include "http/url.hpp"

namespace mayfly::http {
namespace {

constexpr std::size_t kMostTasks = 200;
constexpr std::size_t kSealBytes = 16;

// What a cursor belongs to: the tenant and every parameter that chooses tasks, in the order given.
std::string seal_of(const Request& request) {
  std::string text = request.tenant().str();
  for (const auto& [name, value] : request.query) {
    if (name != "cursor" && name != "limit") text.append("\n").append(name).append("=").append(value);
  }
  return sha256_hex(text).substr(0, kSealBytes);
}

// Opaque to clients: the last task's id and the seal of the query.
std::string make_cursor(const Request& request, const TaskId& last) {
  return last.str() + '.' + seal_of(request);
}

Result<TaskId> parse_cursor(const Request& request, const std::string& cursor) {
  const std::size_t dot = cursor.find('.');
  auto id = parse_id<TaskId>(cursor.substr(0, dot));
  if (!id || cursor != make_cursor(request, *id)) {
    return bad_parameter("cursor", "is not a cursor of this query; start again without it");
  }
  return id;
}

Result<void> add_states(std::string_view names, std::vector<TaskState>& states) {
  while (!names.empty()) {
    const std::size_t comma = names.find(',');
    const auto state = find_task_state(names.substr(0, comma));
    if (!state) return bad_parameter("state", "names a state that does not exist");
    states.push_back(*state);
    names = comma == std::string_view::npos ? std::string_view() : names.substr(comma + 1);
  }
  return {};
}

Result<void> add_label(const std::string& text, TaskFilter& filter) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) return bad_parameter("label", "must be key=value");
  filter.labels.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  return {};
}

Result<TaskFilter> parse_filter(const Request& request) {
  TaskFilter filter;
  filter.tenant = request.tenant();
  for (const auto& [name, value] : request.query) {
    Result<void> added;
    if (name == "state") added = add_states(value, filter.states);
    if (name == "label") added = add_label(value, filter);
    if (!added) return fail_with(std::move(added));
  }
  const auto after = time_of(request, "submitted_after");
  if (!after) return fail_with(after);
  const auto before = time_of(request, "submitted_before");
  if (!before) return fail_with(before);
  filter.submitted_after = *after;
  filter.submitted_before = *before;
  return filter;
}

std::string next_link(const Request& request, const std::string& cursor) {
  std::string link = "<" + request.path + "?";
  for (const auto& [name, value] : request.query) {
    if (name != "cursor") link += percent_encode(name) + '=' + percent_encode(value) + '&';
  }
  return link + "cursor=" + percent_encode(cursor) + ">; rel=\"next\"";
}

}  // namespace

Result<ListQuery> parse_list_query(const Request& request) {
  ListQuery query;
  auto filter = parse_filter(request);
  if (!filter) return fail_with(std::move(filter));
  query.filter = std::move(*filter);
  const auto limit = number_of(request, "limit", 1, kMostTasks, query.limit);
  if (!limit) return fail_with(limit);
  query.limit = *limit;
  if (const std::string* cursor = request.find_query("cursor")) {
    auto before = parse_cursor(request, *cursor);
    if (!before) return fail_with(std::move(before));
    query.before = std::move(*before);
  }
  return query;
}

Response list_response(const Request& request, const TaskPage& page) {
  Json items = Json::array();
  for (const TaskRecord& task : page.tasks) items.push_back(to_public_json(task, SpecDetail::summary));
  Json json = {{"items", std::move(items)}, {"next_cursor", nullptr}};
  if (!page.next) return json_response(200, dump_json(json));
  const std::string cursor = make_cursor(request, *page.next);
  json["next_cursor"] = cursor;
  Response response = json_response(200, dump_json(json));
  response.headers.add("Link", next_link(request, cursor));
  return response;
}

}  // namespace mayfly::http
