#include "http/handlers/logs_handler.hpp"

#include "http/byte_range.hpp"
#include "http/handlers/log_body.hpp"
#include "http/handlers/parameters.hpp"
#include "http/problem.hpp"

namespace mayfly::http {
namespace {

constexpr std::uint64_t kLargestOffset = (1ULL << 53U) - 1;

Result<LogStream> stream_of(const Request& request) {
  const std::string* text = request.find_query("stream");
  if (!text || *text == "both") return LogStream::both;
  if (*text == "stdout") return LogStream::out;
  if (*text == "stderr") return LogStream::err;
  return bad_parameter("stream", "must be stdout, stderr or both");
}

std::uint64_t left_of(std::uint64_t size, std::uint64_t from) {
  return size > from ? size - from : 0;
}

}  // namespace

struct LogsHandler::Wanted {
  TaskId id;
  LogStream stream = LogStream::both;
  LogFormat format = LogFormat::raw;
  std::uint64_t out_from = 0;
  std::uint64_t err_from = 0;
  bool follow = false;
  LogSize size;  // when the request came

  std::uint64_t bytes() const {
    const std::uint64_t out = stream == LogStream::err ? 0 : left_of(size.out, out_from);
    const std::uint64_t err = stream == LogStream::out ? 0 : left_of(size.err, err_from);
    return out + err;
  }
  // Only a raw body of one stream, from its beginning, has positions that a Range could mean.
  bool takes_ranges() const {
    return format == LogFormat::raw && stream != LogStream::both && !follow && out_from == 0 &&
           err_from == 0 && !size.holes;
  }
};

Result<LogsHandler::Wanted> LogsHandler::parse(const Request& request) {
  Wanted wanted;
  auto id = task_id_of(request);
  if (!id) return fail_with(std::move(id));
  const auto stream = stream_of(request);
  if (!stream) return fail_with(stream);
  const auto out_from = number_of(request, "stdout_from", 0, kLargestOffset, 0);
  if (!out_from) return fail_with(out_from);
  const auto err_from = number_of(request, "stderr_from", 0, kLargestOffset, 0);
  if (!err_from) return fail_with(err_from);
  const auto follow = flag_of(request, "follow");
  if (!follow) return fail_with(follow);
  wanted.id = std::move(*id);
  wanted.stream = *stream;
  wanted.out_from = *out_from;
  wanted.err_from = *err_from;
  wanted.follow = *follow;
  wanted.format = accepts_explicitly(request, "application/x-ndjson") ? LogFormat::ndjson : LogFormat::raw;
  return wanted;
}

Async<Response> LogsHandler::stream(const Request& request) {
  auto wanted = parse(request);
  if (!wanted) co_return fail_with(std::move(wanted));
  const auto size = co_await service_.log_size(request.tenant(), wanted->id);
  if (!size) co_return fail_with(size);
  wanted->size = *size;
  Response response;
  if (!wanted->takes_ranges())
    co_return co_await open(request, *wanted, wanted->bytes(), std::move(response));

  response.headers.add("Accept-Ranges", "bytes");
  const std::uint64_t whole = wanted->bytes();
  const bool conditional =
      request.headers.find("If-Range") != nullptr;  // a log has no validator that could match
  const RangeDecision decision =
      conditional ? RangeDecision{} : decide_range(request.headers.get("Range"), whole);
  if (decision.outcome == RangeOutcome::unsatisfiable) {
    const Error error{.code = ErrorCode::range_not_satisfiable,
                      .message = "the stream has " + std::to_string(whole) + " bytes"};
    Response refusal = problem_response(problem_from(error), request.id);
    refusal.headers.add("Content-Range", "bytes */" + std::to_string(whole));
    co_return refusal;
  }
  if (decision.outcome == RangeOutcome::ignored)
    co_return co_await open(request, *wanted, whole, std::move(response));

  response.status = 206;
  const auto known_size = size->complete ? std::optional<std::uint64_t>(whole) : std::nullopt;
  response.headers.add("Content-Range", content_range(decision.range, known_size));
  wanted->out_from = wanted->err_from = decision.range.first;
  co_return co_await open(request, *wanted, decision.range.length, std::move(response));
}

Async<Response> LogsHandler::open(const Request& request, const Wanted& wanted, std::uint64_t length,
                                  Response response) {
  auto reader = co_await service_.open_log(request.tenant(), wanted.id, wanted.stream, wanted.out_from,
                                           wanted.err_from);
  if (!reader) co_return fail_with(std::move(reader));
  const LogExtent extent{
      .follow = wanted.follow, .complete = wanted.size.complete, .bytes = length, .holes = wanted.size.holes};
  response.stream = make_log_body(std::move(*reader), wanted.format, extent, heartbeat_);
  response.stream_life = wanted.follow ? StreamLife::open_ended : StreamLife::finite;
  const bool is_ndjson = wanted.format == LogFormat::ndjson;
  if (!is_ndjson && !wanted.follow && !wanted.size.holes) response.stream_length = length;
  if (wanted.follow) response.headers.add("X-Accel-Buffering", "no");
  const bool as_text = accepts_explicitly(request, "text/plain");
  response.headers.add("Content-Type", is_ndjson ? "application/x-ndjson"
                                       : as_text ? "text/plain; charset=utf-8"
                                                 : "application/octet-stream");
  co_return response;
}

}  // namespace mayfly::http
