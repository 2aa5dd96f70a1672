#include "http/handlers/events_handler.hpp"

#include "base/bytes.hpp"
#include "http/handlers/parameters.hpp"

namespace mayfly::http {
namespace {

constexpr std::uint64_t kLargestId = (1ULL << 53U) - 1;  // what a JSON number can say exactly

enum class EventFormat { server_sent, ndjson };

Json to_json(const TaskEvent& event) {
  return {{"seq", event.seq}, {"at", format_time(event.at)}, {"type", event.type}, {"data", event.data}};
}

// dump_json writes one line, so that task data can not begin a field or an event of its own (H12).
std::string format_event(const TaskEvent& event, EventFormat format) {
  const std::string json = dump_json(to_json(event));
  if (format == EventFormat::ndjson) return json + '\n';
  return "id: " + std::to_string(event.seq) + "\nevent: " + event.type + "\ndata: " + json + "\n\n";
}

// The last record: says that the feed is whole. In SSE it repeats the last id, so that a client that connects
// again gets a 204, which makes EventSource stop.
std::string format_end(std::uint64_t last, EventFormat format) {
  const Json json = {{"seq", last}, {"type", "end"}};
  if (format == EventFormat::ndjson) return dump_json(json) + '\n';
  return "id: " + std::to_string(last) + "\nevent: end\ndata: " + dump_json(json) + "\n\n";
}

std::string_view heartbeat_text(EventFormat format) {
  return format == EventFormat::ndjson ? "\n" : ": heartbeat\n\n";
}

// Last-Event-ID or ?after=: where the client stands. 0 is before the first event.
Result<std::uint64_t> position_of(const Request& request) {
  const std::string* header = request.headers.find("Last-Event-ID");
  if (!header) return number_of(request, "after", 0, kLargestId, 0);
  const auto id = parse_decimal(*header);
  if (!id || *id > kLargestId)
    return fail(ErrorCode::invalid_argument, "Last-Event-ID is not an id of this feed");
  return *id;
}

using EventBatch = Result<std::vector<TaskEvent>>;

class EventStream final : public StreamingBody {
 public:
  EventStream(TaskService& service, TenantId tenant, TaskId id, std::uint64_t after, EventFormat format,
              Millis heartbeat, EventBatch first)
      : service_(service),
        tenant_(std::move(tenant)),
        id_(std::move(id)),
        after_(after),
        format_(format),
        heartbeat_(heartbeat),
        batch_(std::move(first)) {}

  Async<> write_to(BodyWriter& out) override {
    if (format_ == EventFormat::server_sent) {
      auto told = co_await out.write("retry: 3000\n\n");
      if (!told) co_return told;
    }
    for (;;) {
      const bool quiet = !batch_ && batch_.error().code == ErrorCode::deadline_exceeded;
      if (!batch_ && !quiet) co_return fail_with(batch_);
      const bool ended = batch_ && batch_->empty();
      const std::string text = quiet ? std::string(heartbeat_text(format_)) : format_batch();
      auto written = co_await out.write(text);
      if (!written || ended) co_return written;
      batch_ = co_await service_.events(tenant_, id_, after_, Deadline::in(heartbeat_));
    }
  }

 private:
  std::string format_batch() {
    if (batch_->empty()) return format_end(after_, format_);
    std::string text;
    for (const TaskEvent& event : *batch_) text += format_event(event, format_);
    after_ = batch_->back().seq;
    return text;
  }

  TaskService& service_;
  TenantId tenant_;
  TaskId id_;
  std::uint64_t after_;
  EventFormat format_;
  Millis heartbeat_;
  EventBatch batch_;
};

}  // namespace

Async<Response> EventsHandler::stream(const Request& request) {
  const auto id = task_id_of(request);
  if (!id) co_return fail_with(id);
  const auto after = position_of(request);
  if (!after) co_return fail_with(after);
  const auto task = co_await service_.get(request.tenant(), *id);
  if (!task) co_return fail_with(task);
  // What is there already, without waiting: it tells a feed that was read to its end, before the head is
  // sent.
  auto first = co_await service_.events(request.tenant(), *id, *after, Deadline::in(Millis(0)));
  if (!first && first.error().code != ErrorCode::deadline_exceeded) co_return fail_with(std::move(first));
  if (first && first->empty()) co_return empty_response(204);

  const bool ndjson = accepts_explicitly(request, "application/x-ndjson");
  const EventFormat format = ndjson ? EventFormat::ndjson : EventFormat::server_sent;
  Response response;
  response.headers.add("Content-Type", ndjson ? "application/x-ndjson" : "text/event-stream");
  response.headers.add("X-Accel-Buffering", "no");
  response.stream_life = StreamLife::open_ended;
  response.stream = std::make_unique<EventStream>(service_, request.tenant(), *id, *after, format, heartbeat_,
                                                  std::move(first));
  co_return response;
}

}  // namespace mayfly::http
