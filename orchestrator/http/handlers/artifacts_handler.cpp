#include "http/handlers/artifacts_handler.hpp"

#include <algorithm>

#include "http/byte_range.hpp"
#include "http/handlers/artifact_body.hpp"
#include "http/handlers/content_disposition.hpp"
#include "http/handlers/parameters.hpp"
#include "http/handlers/tar_body.hpp"
#include "http/problem.hpp"
#include "http/url.hpp"

namespace mayfly::http {
namespace {

std::string encode_path(std::string_view path) {
  std::string encoded;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    encoded += '/' + percent_encode(path.substr(0, slash));
    path = slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
  }
  return encoded;
}

std::string format_mode(std::uint32_t mode) {
  std::string text = "0";
  for (unsigned shift = 9; shift != 0;) {
    shift -= 3;
    text.push_back(static_cast<char>('0' + (mode >> shift & 7U)));
  }
  return text;
}

// `href` reaches the file whatever bytes its name holds; `path` is its text for people.
Json to_json(const Artifact& artifact, const TaskId& id) {
  return {{"path", artifact.path},
          {"size", artifact.size.count},
          {"sha256", artifact.sha256},
          {"mode", format_mode(artifact.mode)},
          {"href", "/v1/tasks/" + id.str() + "/artifacts" + encode_path(artifact.path)}};
}

std::string etag_of(const Artifact& artifact) {
  return '"' + artifact.sha256 + '"';
}

// A range counts only while the content is the one that the client has a part of.
RangeDecision decide_artifact_range(const Request& request, const Artifact& artifact) {
  const std::string* condition = request.headers.find("If-Range");
  if (condition && *condition != etag_of(artifact)) return {};
  return decide_range(request.headers.get("Range"), artifact.size.count);
}

Response out_of_range(const Request& request, const Artifact& artifact) {
  const std::string size = std::to_string(artifact.size.count);
  const Error error{.code = ErrorCode::range_not_satisfiable, .message = "the file has " + size + " bytes"};
  Response response = problem_response(problem_from(error), request.id);
  response.headers.add("Content-Range", "bytes */" + size);
  return response;
}

// Whatever a task calls it, a browser must save it and not run it (P06): `nosniff` is on every response.
Response file_response(const Artifact& artifact) {
  Response response;
  response.headers.add("Content-Type", "application/octet-stream");
  response.headers.add("Content-Disposition", content_disposition(artifact.path));
  response.headers.add("Content-Security-Policy", "sandbox; default-src 'none'");
  response.headers.add("Accept-Ranges", "bytes");
  response.headers.add("ETag", etag_of(artifact));
  return response;
}

}  // namespace

Async<Response> ArtifactsHandler::list(const Request& request) {
  const auto id = task_id_of(request);
  if (!id) co_return fail_with(id);
  const auto artifacts = co_await service_.artifacts(request.tenant(), *id);
  if (!artifacts) co_return fail_with(artifacts);
  Json items = Json::array();
  for (const Artifact& artifact : *artifacts) items.push_back(to_json(artifact, *id));
  const Json json = {{"items", std::move(items)}};
  co_return json_response(200, dump_json(json));
}

Async<Response> ArtifactsHandler::download(const Request& request) {
  const auto id = task_id_of(request);
  if (!id) co_return fail_with(id);
  const std::string& path = request.params.at("path");
  const auto artifacts = co_await service_.artifacts(request.tenant(), *id);
  if (!artifacts) co_return fail_with(artifacts);
  const auto found = std::find_if(artifacts->begin(), artifacts->end(),
                                  [&path](const Artifact& artifact) { return artifact.path == path; });
  if (found == artifacts->end()) co_return fail(ErrorCode::not_found, "the task has no such artifact");

  Response response = file_response(*found);
  if (etag_matches(request.headers.get("If-None-Match"), etag_of(*found))) {
    response.status = 304;
    co_return response;
  }
  const RangeDecision decision = decide_artifact_range(request, *found);
  if (decision.outcome == RangeOutcome::unsatisfiable) co_return out_of_range(request, *found);
  auto reader = co_await service_.open_artifact(request.tenant(), *id, path);
  if (!reader) co_return fail_with(std::move(reader));
  ByteRange range{.first = 0, .length = found->size.count};
  if (decision.outcome == RangeOutcome::satisfiable) {
    range = decision.range;
    response.status = 206;
    response.headers.add("Content-Range", content_range(range, found->size.count));
  }
  response.stream = make_artifact_body(std::move(*reader), range);
  response.stream_length = range.length;
  co_return response;
}

Async<Response> ArtifactsHandler::download_all(const Request& request) {
  const auto id = task_id_of(request);
  if (!id) co_return fail_with(id);
  const auto task = co_await service_.get(request.tenant(), *id);
  if (!task) co_return fail_with(task);
  auto artifacts = co_await service_.artifacts(request.tenant(), *id);
  if (!artifacts) co_return fail_with(std::move(artifacts));
  const WallTime at = task->times.verdict.value_or(WallTime());
  Response response;
  response.headers.add("Content-Type", "application/x-tar");
  response.headers.add("Content-Disposition", content_disposition(id->str() + ".tar"));
  response.stream = make_tar_body(service_, request.tenant(), *id, std::move(*artifacts), at);
  co_return response;
}

}  // namespace mayfly::http
