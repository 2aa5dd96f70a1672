#include "http/handlers/tasks_handler.hpp"

#include "base/digest.hpp"
#include "http/handlers/parameters.hpp"
#include "http/handlers/task_list.hpp"
#include "policy/yaml.hpp"

namespace mayfly::http {
namespace {

// The revision, and a digest of what is shown: a queued task's place changes without a revision.
std::string etag_of(const TaskRecord& task, std::string_view body) {
  return '"' + std::to_string(task.revision) + '-' + sha256_hex(body).substr(0, 16) + '"';
}

Response task_response(int status, const TaskRecord& task, SpecDetail detail) {
  std::string body = dump_json(to_public_json(task, detail));
  std::string etag = etag_of(task, body);
  Response response = json_response(status, std::move(body));
  response.headers.add("ETag", std::move(etag));
  return response;
}

Result<TaskSpec> parse_json_spec(const std::string& body) {
  // RFC 8259 section 8.1 forbids to send one; parse_json, for files of people, is as lenient as it allows.
  if (body.starts_with("\xEF\xBB\xBF")) {
    return fail(ErrorCode::invalid_argument, "invalid JSON at byte 0: a byte-order mark");
  }
  auto json = parse_json(body);
  if (!json) return fail_with(std::move(json));
  return parse_task_spec(*json);
}

Result<TaskSpec> parse_yaml_spec(const std::string& body) {
  auto document = parse_yaml(body, "body");
  if (!document) return fail_with(std::move(document));
  return parse_task_spec(document->value);
}

Result<SpecDetail> detail_of(const Request& request) {
  const std::string* text = request.find_query("detail");
  if (!text || *text == "summary") return SpecDetail::summary;
  if (*text == "full") return SpecDetail::full;
  return bad_parameter("detail", "must be summary or full");
}

}  // namespace

Async<TaskSpec> TasksHandler::read_spec(const Request& request) {
  const bool is_yaml = parse_media_type(request.headers.get("Content-Type")).type == "application/yaml";
  // The pool's work owns its copy of the body: it runs to its end also when this coroutine does not.
  auto parse = [body = request.body, is_yaml] {
    return is_yaml ? parse_yaml_spec(body) : parse_json_spec(body);
  };
  co_return co_await pool_.run(std::move(parse));
}

Async<Response> TasksHandler::create(const Request& request) {
  auto key = idempotency_key_of(request);
  if (!key) co_return fail_with(std::move(key));
  const auto dry_run = flag_of(request, "dry_run");
  if (!dry_run) co_return fail_with(dry_run);
  auto spec = co_await read_spec(request);
  if (!spec) co_return fail_with(std::move(spec));
  if (*dry_run) co_return co_await answer_dry_run(request, std::move(*spec));

  auto outcome = co_await service_.submit(request.tenant(), std::move(*spec), std::move(*key));
  if (!outcome) co_return fail_with(std::move(outcome));
  Response response = task_response(201, outcome->task, SpecDetail::summary);
  response.headers.add("Location", "/v1/tasks/" + outcome->task.id.str());
  if (outcome->replayed) response.headers.add("Idempotency-Replayed", "true");
  co_return response;
}

Async<Response> TasksHandler::answer_dry_run(const Request& request, TaskSpec spec) {
  auto task = co_await service_.dry_run(request.tenant(), std::move(spec));
  if (!task) co_return fail_with(std::move(task));
  co_return json_response(200, dump_json(to_public_json(*task, SpecDetail::full)));
}

Async<Response> TasksHandler::list(const Request& request) {
  auto query = parse_list_query(request);
  if (!query) co_return fail_with(std::move(query));
  auto page = co_await service_.list(query->filter, query->limit, query->before);
  if (!page) co_return fail_with(std::move(page));
  co_return list_response(request, *page);
}

Async<Response> TasksHandler::show(const Request& request) {
  const auto id = task_id_of(request);
  if (!id) co_return fail_with(id);
  const auto detail = detail_of(request);
  if (!detail) co_return fail_with(detail);
  const auto task = co_await service_.get(request.tenant(), *id);
  if (!task) co_return fail_with(task);
  Response response = task_response(200, *task, *detail);
  const std::string etag(response.headers.get("ETag"));
  if (!etag_matches(request.headers.get("If-None-Match"), etag)) co_return response;
  Response unchanged = empty_response(304);
  unchanged.headers.add("ETag", etag);
  co_return unchanged;
}

Async<Response> TasksHandler::cancel(const Request& request) {
  const auto id = task_id_of(request);
  if (!id) co_return fail_with(id);
  if (!request.body.empty()) {
    const auto body = parse_json(request.body);
    if (!body) co_return fail_with(body);
    if (*body != Json::object()) co_return fail(ErrorCode::invalid_argument, "a cancel takes no members");
  }
  const auto task = co_await service_.cancel(request.tenant(), *id);
  if (!task) co_return fail_with(task);
  co_return task_response(200, *task, SpecDetail::summary);
}

}  // namespace mayfly::http
