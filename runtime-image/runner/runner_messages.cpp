// What the orchestrator says, and what the runner answers.
#include "base/crc32c.hpp"
#include "files.hpp"
#include "runner.hpp"

namespace mayfly::runner {
namespace {

constexpr std::size_t kMostAnswered = 512U << 10U;  // unwritten answers, before further requests wait

std::uint32_t crc_of(std::string_view text) {
  return crc32c(std::as_bytes(std::span(text.data(), text.size())));
}

}  // namespace

void Runner::take_messages() {
  while (answered_ < kMostAnswered) {
    const auto incoming = link_.next();
    if (!incoming) break;
    take(*incoming);
  }
  // The link keeps acknowledgements to itself; they too are lines of the current epoch.
  if (link_.outbox().acknowledged() == acknowledged_) return;
  acknowledged_ = link_.outbox().acknowledged();
  life_.heard(now_);
}

void Runner::take(const channel::Incoming& incoming) {
  if (incoming.method == channel::kAttach) return take_attach(incoming);
  life_.heard(now_);
  if (incoming.request_id) return take_request(incoming);
  if (incoming.number == 0) return;  // ping: to be heard is all it wants
  take_numbered(incoming);
  link_.acknowledge(link_.taken());
}

// Only a higher epoch opens anew. The same one with the same nonce is our hello that was lost; with another
// it is nobody.
void Runner::take_attach(const channel::Incoming& incoming) {
  const auto attach = channel::parse_attach(incoming.body);
  const auto epoch = incoming.body.value("e", std::uint64_t{0});
  if (!attach) return;
  if (epoch == link_.epoch()) {
    if (attach->nonce != nonce_ || !link_.is_open()) return;
  } else {
    nonce_ = attach->nonce;
    link_.begin_epoch(epoch);
    link_.resume(attach->got, link_.taken());
    answered_ = 0;
  }
  life_.heard(now_);
  say_hello();
}

void Runner::say_hello() {
  const channel::Hello hello{.nonce = nonce_,
                             .protocol = channel::kProtocolVersion,
                             .build = MAYFLY_VERSION,
                             .instance = instance_,
                             .state = life_.state(),
                             .attempt = attempt_,
                             .got = link_.taken(),
                             .sent = link_.outbox().last_number(),
                             .acked = link_.outbox().acknowledged(),
                             .self = self_};
  link_.send_plain(channel::kHello, hello.members());
}

// A numbered message that cannot be read is a bug of the orchestrator: there is nobody to tell but the log of
// the task.
void Runner::take_numbered(const channel::Incoming& incoming) {
  if (incoming.method == channel::kPut && life_.state() == channel::RunnerState::parked) {
    if (const auto put = channel::parse_put(incoming.body)) inputs_.put(*put, incoming.payload);
  } else if (incoming.method == channel::kBind) {
    if (const auto bind = channel::parse_bind(incoming.body)) take_bind(*bind);
  } else if (incoming.method == channel::kStop) {
    const auto stop = channel::parse_stop(incoming.body);
    if (!stop) return;
    life_.stop(stop->reason, stop->kill ? StopHow::at_once : StopHow::gracefully, stop->grace_ms, now_);
  } else if (incoming.method == channel::kRelease) {
    life_.released(now_);
  }
}

void Runner::take_bind(const channel::Bind& bind) {
  if (life_.state() != channel::RunnerState::parked) return;  // once in a life; a repeat changes nothing
  attempt_ = bind.attempt;
  inputs_.finish();
  const std::string& text = inputs_.spec();
  auto spec = channel::parse_bind_spec(text);
  const bool is_whole = text.size() == bind.spec_bytes && crc_of(text) == bind.spec_crc;
  life_.bind(spec ? *spec : channel::BindSpec{}, now_);
  if (inputs_.fault()) return end_unstarted(*inputs_.fault());
  if (!is_whole) {
    return end_unstarted({Reason::runner_protocol_error, "the bind spec has " + std::to_string(text.size()) +
                                                             " bytes or another CRC than the bind of " +
                                                             std::to_string(bind.spec_bytes) + " bytes"});
  }
  if (!spec) return end_unstarted({Reason::runner_protocol_error, spec.error().message});
  start_task(std::move(*spec));
}

void Runner::take_request(const channel::Incoming& incoming) {
  const std::int64_t id = *incoming.request_id;
  if (incoming.method == channel::kFilesList) {
    answer_list(id, incoming.body);
  } else if (incoming.method == channel::kFilesRead) {
    answer_read(id, incoming.body);
  } else {
    link_.send_error(id, {.code = ErrorCode::invalid_argument, .message = "unknown method"});
  }
  answered_ += channel::kMaxHeadBytes;
}

void Runner::answer_list(std::int64_t id, const Json& body) {
  const auto request = channel::parse_files_list(body);
  if (!request) return link_.send_error(id, request.error());
  const auto page = list_files(workspace_.get(), *request);
  if (!page) return link_.send_error(id, page.error());
  link_.send_response(id, page->members());
}

void Runner::answer_read(std::int64_t id, const Json& body) {
  const auto request = channel::parse_files_read(body);
  if (!request) return link_.send_error(id, request.error());
  const auto piece = read_file_piece(workspace_.get(), *request);
  if (!piece) return link_.send_error(id, piece.error());
  link_.send_response(id, piece->chunk.members(), piece->bytes);
  answered_ += piece->bytes.size();
}

}  // namespace mayfly::runner
