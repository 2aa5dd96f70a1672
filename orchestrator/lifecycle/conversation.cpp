#include "lifecycle/conversation.hpp"

#include <algorithm>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <exception>
#include <span>

#include "async/scope.hpp"
#include "async/with_deadline.hpp"

namespace mayfly {
namespace {

constexpr std::size_t kOutboxBytes = 1U << 20U;
constexpr std::size_t kOutboxMessages = 256;
constexpr std::size_t kLeastRead = 16U << 10U;
constexpr std::size_t kMostRead = 256U << 10U;
constexpr std::size_t kMostOutput = 256U << 10U;
constexpr std::size_t kMostBatch = 512U << 10U;
constexpr std::size_t kMostBatchMessages = 1024;
// Each acknowledgement wakes the engine, its shim and the runner: one for many records. Well under the least
// spool.
constexpr std::size_t kAcknowledgeEvery = 96U << 10U;
constexpr std::size_t kMessageWeight = 256;
constexpr std::size_t kTrickle = 4U << 10U;
constexpr Millis kTick{500};
constexpr Millis kAskAgain{2000};
constexpr int kTicksPerPing = 10;

std::int64_t now_ms() {
  return std::chrono::duration_cast<Millis>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

LogRecord to_log_record(channel::Incoming& incoming, WallTime at) {
  LogRecord record{.number = incoming.number, .kind = LogKind::event, .at = at, .offset = 0, .data = {}};
  if (incoming.method == channel::kOut) {
    if (const auto out = channel::parse_out(incoming.body)) {
      record.kind = out->stream == channel::OutStream::err ? LogKind::err : LogKind::out;
      record.offset = out->offset;
      record.data = std::move(incoming.payload);
      return record;
    }
  }
  if (incoming.method == channel::kTruncated) record.kind = LogKind::truncated;
  record.data = dump_json(Json{{"method", incoming.method}, {"params", incoming.body}});
  return record;
}

ErrorCode code_of_refusal(const Json& data) {
  const auto name = data.is_object() ? data.find("code") : data.end();
  for (const ErrorCode code : {ErrorCode::not_found, ErrorCode::payload_too_large}) {
    if (name != data.end() && *name == std::string(name_of(code))) return code;
  }
  return ErrorCode::unprocessable;
}

// What a loop throws must not stay in it: `||` would wait for the others, which never end by themselves.
asio::awaitable<void> contain(Async<> loop, std::exception_ptr& thrown) {
  try {
    (void)co_await std::move(loop);
  } catch (...) {
    if (!thrown) thrown = std::current_exception();
  }
}

}  // namespace

Conversation::Conversation(Notifier& changed, asio::any_io_executor io, LogWriter& log_writer,
                           Metrics& metrics, Logger& log, const Clock& clock)
    : io_(std::move(io)),
      writer_(log_writer),
      metrics_(metrics),
      log_(log),
      clock_(clock),
      link_(channel::Outbox(kOutboxBytes, kOutboxMessages, channel::Outbox::Memory::lazy)),
      changed_(changed),
      output_due_(io_) {}

asio::awaitable<void> Conversation::serve(std::unique_ptr<Carrier> carrier, std::uint64_t epoch,
                                          std::string expected_instance) {
  using namespace asio::experimental::awaitable_operators;
  carrier_ = std::move(carrier);
  expected_instance_ = std::move(expected_instance);
  foreign_ = unbound_ = false;
  log_fault_.reset();
  hello_.reset();
  nonce_ = make_random_hex(16);
  view_.last_heard = clock_.mono();
  unacknowledged_ = 0;
  link_.begin_epoch(epoch);
  send_attach();
  std::exception_ptr thrown;
  co_await (contain(read_loop(), thrown) || contain(write_loop(), thrown) || contain(tick_loop(), thrown));
  if (const auto failure = what_escaped(thrown))
    log_.error("channel", "a conversation failed and its carrier is given up", {{"what", *failure}});
  carrier_->close();
  carrier_.reset();
  link_.set_open(false);
  changed_.notify();
}

void Conversation::close() {
  if (carrier_) carrier_->close();
}

void Conversation::send_attach() {
  const channel::Attach attach{.nonce = nonce_, .got = writer_.last_number()};
  link_.send_newline();
  link_.send_plain(channel::kAttach, attach.members());
  output_due_.notify();
}

// Reading and writing in turn: while a batch is being written the next one gathers, in the engine's buffers,
// and a flood comes in few big reads.
Async<> Conversation::read_loop() {
  std::string buffer(kLeastRead, '\0');
  for (;;) {
    auto got = co_await carrier_->read_some(std::as_writable_bytes(std::span(buffer.data(), buffer.size())));
    if (!got) co_return fail_with(std::move(got));
    if (*got == 0) co_return Result<>{};
    view_.last_heard = clock_.mono();
    const std::uint64_t acknowledged_before = link_.outbox().acknowledged();
    link_.feed(std::string_view(buffer).substr(0, *got));
    for (Batch batch = next_batch(); !batch.is_empty(); batch = next_batch()) {
      auto taken = co_await take(batch);
      if (!taken) {
        log_fault_ = taken.error();
        co_return taken;
      }
    }
    if (link_.outbox().acknowledged() != acknowledged_before)
      changed_.notify();  // room for what is to be sent
    if (unacknowledged_ > 0 && (*got < kTrickle || unacknowledged_ >= kAcknowledgeEvery))
      send_acknowledgement();
    if (*got == buffer.size() && buffer.size() < kMostRead) buffer.resize(2 * buffer.size());
  }
}

// Bounded, so that nobody else of this thread waits long.
Conversation::Batch Conversation::next_batch() {
  Batch batch;
  const WallTime at = clock_.wall();
  const std::uint64_t dropped_before = link_.dropped_lines();
  while (batch.bytes < kMostBatch && batch.size() < kMostBatchMessages) {
    auto incoming = link_.next();
    if (!incoming) break;
    if (incoming->method == channel::kHello) {
      if (auto gap = take_hello(*incoming)) batch.records.push_back(std::move(*gap));
    } else if (incoming->number > 0) {
      batch.bytes += incoming->payload.size();
      batch.records.push_back(to_log_record(*incoming, at));
      batch.noted.push_back({.record = {.number = batch.records.back().number,
                                        .kind = batch.records.back().kind,
                                        .at = at,
                                        .offset = batch.records.back().offset,
                                        .data = {}},
                             .method = std::move(incoming->method),
                             .body = std::move(incoming->body)});
    } else {
      batch.plain.push_back(std::move(*incoming));
    }
  }
  if (link_.dropped_lines() > dropped_before) {
    metrics_.add("mayfly_channel_dropped_lines_total", {},
                 static_cast<double>(link_.dropped_lines() - dropped_before));
    output_due_.notify();  // the peer may have to be told what to send again
  }
  return batch;
}

// Everything numbered goes to the segment first; only then is it acknowledged and believed.
Async<> Conversation::take(Batch& batch) {
  if (!batch.records.empty()) {
    auto written = co_await writer_.append(std::move(batch.records), LogDurability::page_cache);
    if (!written) co_return written;
    metrics_.add("mayfly_log_bytes_total", {}, static_cast<double>(batch.bytes));
    if (!batch.noted.empty()) link_.acknowledge(batch.noted.back().record.number);
    unacknowledged_ += batch.bytes + batch.noted.size() * kMessageWeight;
    for (const Noted& noted : batch.noted) {
      note_numbered(noted.record, noted.method, noted.body);
      if (noted.method != channel::kOut) unacknowledged_ += kAcknowledgeEvery;  // news does not wait
    }
  }
  for (channel::Incoming& incoming : batch.plain) take_plain(std::move(incoming));
  changed_.notify();
  co_return Result<>{};
}

// With the output that is written next.
void Conversation::send_acknowledgement() {
  unacknowledged_ = 0;
  output_due_.notify();
}

// A gap record where the runner has let go of messages that the segment does not hold (it was damaged, or
// files of it are gone): they exist nowhere any more.
std::optional<LogRecord> Conversation::take_hello(const channel::Incoming& incoming) {
  auto hello = channel::parse_hello(incoming.body);
  if (!hello || hello->nonce != nonce_ || link_.is_open()) return std::nullopt;
  if (hello->protocol != channel::kProtocolVersion) {
    log_.error("channel", "the runner speaks another protocol version",
               {{"version", std::to_string(hello->protocol)}});
    return std::nullopt;
  }
  foreign_ = !expected_instance_.empty() && hello->instance != expected_instance_;
  const std::uint64_t have = writer_.last_number(), acked = hello->acked;
  if (!foreign_) link_.resume(hello->got, std::max(have, acked));
  unbound_ = !foreign_ && !expected_instance_.empty() && hello->attempt.empty() && link_.outbox().size() == 0;
  hello_ = std::move(*hello);
  output_due_.notify();
  changed_.notify();
  if (foreign_) close();
  if (foreign_ || acked <= have) return std::nullopt;
  const Json words{{"reason", "messages_lost"}, {"from", have + 1}, {"to", acked}};
  return LogRecord{
      .number = 0, .kind = LogKind::gap, .at = clock_.wall(), .offset = 0, .data = dump_json(words)};
}

void Conversation::take_plain(channel::Incoming incoming) {
  if (incoming.method.empty() && incoming.request_id) {
    const auto waiting = requests_.find(*incoming.request_id);
    if (waiting != requests_.end()) waiting->second = std::move(incoming);
    return;
  }
  if (incoming.method != channel::kUsage) return;
  if (const auto message = channel::parse_usage(incoming.body)) {
    constexpr std::size_t kMostSamples = 256;  // the owner takes them away; a stuck owner loses the newest
    view_.usage = message->usage;
    if (view_.new_samples.size() < kMostSamples) view_.new_samples.push_back({clock_.wall(), message->usage});
  }
}

void Conversation::note_numbered(const LogRecord& record, const std::string& method, const Json& body) {
  if (record.kind == LogKind::out || record.kind == LogKind::err) {
    view_.has_output = true;
  } else if (method == channel::kStarted) {
    view_.started = true;
  } else if (method == channel::kTruncated) {
    view_.limits_hit.push_back(LimitHit::log_truncated);
  } else if (method == channel::kLimitHit) {
    if (const auto hit = channel::parse_limit_hit(body)) view_.limits_hit.push_back(hit->limit);
  } else if (method == channel::kEnded && !view_.ended) {
    if (auto ended = channel::parse_ended(body)) {
      view_.usage = ended->usage;
      view_.ended = std::move(*ended);
    } else {
      log_.error("channel", "the runner's end cannot be read", {{"error", ended.error().message}});
    }
  }
}

Async<> Conversation::write_loop() {
  for (;;) {
    // A copy, since messages are queued while it is being written.
    const std::string chunk(link_.output(kMostOutput));
    link_.wrote(chunk.size());
    if (chunk.empty()) {
      co_await output_due_.wait(Deadline::never());
      continue;
    }
    auto written = co_await carrier_->write(std::as_bytes(std::span(chunk.data(), chunk.size())));
    if (!written) co_return written;
  }
}

Async<> Conversation::tick_loop() {
  for (int tick = 1;; ++tick) {
    co_await sleep_until(Deadline::in(kTick));
    link_.on_tick(now_ms());
    if (unacknowledged_ > 0) send_acknowledgement();
    if (!link_.is_open()) send_attach();
    if (link_.is_open() && tick % kTicksPerPing == 0) link_.send_plain(channel::kPing, {});
    output_due_.notify();
  }
}

Async<> Conversation::send(std::string method, std::string members, std::string payload, Deadline deadline) {
  while (!link_.outbox().has_room(members.size() + payload.size())) {
    if (!serving()) co_return fail(ErrorCode::engine_unreachable, "the carrier to the runner was lost");
    if (deadline.passed())
      co_return fail(ErrorCode::deadline_exceeded, "the runner did not take its input in time");
    co_await changed_.wait(deadline.within(kTick));
  }
  link_.send_numbered(method, members, payload);
  output_due_.notify();
  co_return Result<>{};
}

Async<> Conversation::flushed(Deadline deadline) {
  while (link_.outbox().size() > 0) {
    if (!serving()) co_return fail(ErrorCode::engine_unreachable, "the carrier to the runner was lost");
    if (deadline.passed())
      co_return fail(ErrorCode::deadline_exceeded, "the runner did not acknowledge in time");
    co_await changed_.wait(deadline.within(kTick));
  }
  co_return Result<>{};
}

Async<channel::Incoming> Conversation::request(std::string method, std::string members, Deadline deadline) {
  const std::int64_t id = ++last_request_;
  const auto waiting = requests_.emplace(id, std::nullopt).first;
  Deadline ask_again = Deadline::in(Millis(0));
  while (!waiting->second && connected() && !deadline.passed()) {
    if (ask_again.passed()) {
      link_.send_request(id, method, members);
      output_due_.notify();
      ask_again = Deadline::in(kAskAgain);
    }
    co_await changed_.wait(ask_again.when() < deadline.when() ? ask_again : deadline);
  }
  auto answer = std::move(waiting->second);
  requests_.erase(waiting);
  if (!answer && !connected())
    co_return fail(ErrorCode::engine_unreachable, "the carrier to the runner was lost");
  if (!answer)
    co_return fail(ErrorCode::deadline_exceeded, "the runner did not answer " + method + " in time");
  if (!answer->error.empty()) co_return fail(code_of_refusal(answer->body), std::move(answer->error));
  co_return std::move(*answer);
}

}  // namespace mayfly
