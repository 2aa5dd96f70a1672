#include "lifecycle/launch.hpp"

#include <span>

#include "base/crc32c.hpp"

namespace mayfly {
namespace {

constexpr Millis kOrphanGrace = std::chrono::minutes(10);

tl::unexpected<Failure> failed(const Error& error, Phase phase) {
  return tl::unexpected(failure_of(error, phase));
}

tl::expected<void, Failure> check_stop(const Attempt& attempt) {
  if (attempt.task.stop_wanted()) return tl::unexpected(stopped(attempt.task.stop_reason()));
  return {};
}

Step<Image> prepare(Attempt& attempt) {
  const std::string reference =
      attempt.task.record().spec.image;  // a copy: a change that is saved meanwhile replaces the record
  const Millis patience = attempt.task.record().timeouts.prepare;
  auto image = co_await attempt.services.runtime.prepare(reference, Deadline::in(patience));
  if (!image) co_return failed(image.error(), Phase::prepare);
  auto apply = [id = image->id, now = attempt.services.clock.wall()](TaskRecord& record,
                                                                     AttemptRecord& tried) {
    record.image_digest = id;
    record.times.prepared = now;
    tried.state = AttemptState::preparing;
  };
  std::vector<NewEvent> events;
  events.push_back({.type = "image.resolved", .data = Json{{"image", reference}, {"digest", image->id}}});
  // This save is also the intent to create: the sandbox's name is reserved in the attempt.
  co_await attempt.task.update(make_change(apply, std::move(events)));
  co_return std::move(*image);
}

Step<> create(Attempt& attempt, Image image, Deadline deadline) {
  const TaskRecord& task = attempt.task.record();
  const SandboxSpec spec{.id = attempt.sandbox(),
                         .image = std::move(image),
                         .limits = task.limits,
                         .granted = task.granted,
                         .lifetime = task.timeouts.total + kOrphanGrace};
  auto id = co_await attempt.services.runtime.create(spec, deadline);
  if (!id) co_return failed(id.error(), Phase::create);
  auto apply = [id = *id](TaskRecord&, AttemptRecord& record) {
    record.engine_id = id;
    record.state = AttemptState::starting;
    ++record.epoch;  // of the attach that follows: saved here, so that one commit serves both
  };
  co_await attempt.task.update(make_change(apply));
  co_return tl::expected<void, Failure>{};
}

// What became of a sandbox whose runner never said hello.
Step<> explain_silence(Attempt& attempt, const Error& error) {
  if (error.code == ErrorCode::cancelled) co_return tl::unexpected(stopped(attempt.task.stop_reason()));
  auto status =
      co_await attempt.services.runtime.inspect(attempt.sandbox(), Deadline::in(std::chrono::seconds(5)));
  if (status && status->state == SandboxState::exited) {
    const std::string code = status->exit_code ? std::to_string(*status->exit_code) : "unknown";
    co_return tl::unexpected(Failure{
        .reason = Reason::runner_lost,
        .message = "the runner did not start: the sandbox ended with code " + code + " " + status->detail,
        .may_retry = false});
  }
  Failure failure = failure_of(error, Phase::start);
  if (error.code == ErrorCode::deadline_exceeded) failure.message = "runner did not start: " + error.message;
  co_return tl::unexpected(std::move(failure));
}

// What the runner sees of its own confinement must be what the profile promises: the last look before a
// task's code is handed over. Empty when it is.
std::string find_flaw(const channel::SelfReport& self) {
  constexpr std::uint32_t kUid = 65532;
  constexpr int kFilter = 2;  // SECCOMP_MODE_FILTER
  const auto holds_any = [](const std::string& set) {
    return set.empty() || set.find_first_not_of('0') != std::string::npos;
  };
  if (self.uid != kUid || self.gid != kUid)
    return "uid " + std::to_string(self.uid) + " and gid " + std::to_string(self.gid);
  if (holds_any(self.cap_effective) || holds_any(self.cap_bounding))
    return "capabilities " + self.cap_effective + " of " + self.cap_bounding;
  if (!self.no_new_privileges) return "no_new_privs off";
  if (self.seccomp_mode != kFilter) return "seccomp mode " + std::to_string(self.seccomp_mode);
  if (self.interfaces != std::vector<std::string>{"lo"}) return "other network interfaces than lo";
  if (self.dumpable) return "a dumpable runner";
  if (self.pid != 1) return "pid " + std::to_string(self.pid);
  return {};
}

Step<> greet(Attempt& attempt, Deadline deadline) {
  Runtime& runtime = attempt.services.runtime;
  auto carrier = co_await runtime.channel(attempt.sandbox(), deadline);
  if (!carrier) co_return failed(carrier.error(), Phase::start);
  attempt.carriers.spawn(
      "conversation",
      attempt.conversation.serve(std::move(*carrier), attempt.task.attempt().epoch, std::string()));
  auto started = co_await runtime.start(attempt.sandbox(), deadline);
  if (!started) co_return failed(started.error(), Phase::start);
  auto hello = co_await await_hello(attempt, deadline);
  if (!hello) co_return co_await explain_silence(attempt, hello.error());
  if (attempt.conversation.hello()->state != channel::RunnerState::parked) {
    co_return tl::unexpected(
        Failure{.reason = Reason::runner_protocol_error, .message = "a new runner was not parked"});
  }
  const std::string flaw = find_flaw(attempt.conversation.hello()->self);
  if (!flaw.empty()) {
    co_return tl::unexpected(
        Failure{.reason = Reason::runtime_untrusted, .message = "the runner sees itself with " + flaw});
  }
  co_return tl::expected<void, Failure>{};
}

Async<> put(Attempt& attempt, channel::Put piece, std::string_view content, Deadline deadline) {
  std::size_t done = 0;
  do {
    piece.offset = done;
    const std::string_view part = content.substr(done, channel::kMaxPayloadBytes);
    auto sent = co_await attempt.conversation.send(std::string(channel::kPut), piece.members(),
                                                   std::string(part), deadline);
    if (!sent) co_return sent;
    done += part.size();
  } while (done < content.size());
  co_return Result<>{};
}

channel::BindSpec make_bind_spec(const TaskRecord& task, const Policy& policy,
                                 const std::string& image_path) {
  channel::BindSpec spec;
  spec.argv = task.spec.command;
  spec.script = !task.spec.script.empty();
  spec.env = {{"HOME", "/workspace"},
              {"USER", "task"},
              {"TMPDIR", "/tmp"},
              {"LANG", "C.UTF-8"},
              {"PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}};
  if (!image_path.empty()) spec.env["PATH"] = image_path;
  for (const auto& [name, value] : task.spec.env) spec.env[name] = value;
  spec.working_dir = task.spec.working_dir;
  spec.has_stdin = !task.spec.stdin_data.empty();
  spec.open_files = task.limits.open_files;
  spec.run_ms = task.timeouts.run.count();
  spec.idle_ms = task.timeouts.idle.count();
  spec.cpu_ms = task.limits.cpu_time.count();
  spec.stop_ms = task.timeouts.stop.count();
  spec.log_bytes = task.limits.log_bytes.count;
  spec.truncate_log = task.spec.on_log_limit == OnLogLimit::truncate;
  spec.lease_ms = policy.runner_lease.count();
  return spec;
}

Async<> put_everything(Attempt& attempt, std::string bind_spec, Deadline deadline) {
  const TaskSpec spec =
      attempt.task.record().spec;  // a copy: every saved change replaces the record meanwhile
  for (const InputFile& input : spec.inputs) {
    channel::Put piece{
        .target = channel::PutTarget::workspace, .path = input.path, .mode = input.mode, .offset = 0};
    auto sent = co_await put(attempt, std::move(piece), input.content, deadline);
    if (!sent) co_return sent;
  }
  if (!spec.script.empty()) {
    channel::Put piece{.target = channel::PutTarget::script, .path = {}, .mode = 0, .offset = 0};
    auto sent = co_await put(attempt, std::move(piece), spec.script, deadline);
    if (!sent) co_return sent;
  }
  if (!spec.stdin_data.empty()) {
    channel::Put piece{.target = channel::PutTarget::standard_input, .path = {}, .mode = 0, .offset = 0};
    auto sent = co_await put(attempt, std::move(piece), spec.stdin_data, deadline);
    if (!sent) co_return sent;
  }
  channel::Put piece{.target = channel::PutTarget::spec, .path = {}, .mode = 0, .offset = 0};
  co_return co_await put(attempt, std::move(piece), bind_spec, deadline);
}

Step<> bind(Attempt& attempt, std::string image_path, Deadline deadline) {
  const std::string spec =
      channel::dump_bind_spec(make_bind_spec(attempt.task.record(), *attempt.policy, image_path));
  auto sent = co_await put_everything(attempt, spec, deadline);
  if (!sent) co_return failed(sent.error(), Phase::start);
  auto stop = check_stop(attempt);
  if (!stop) co_return stop;

  // From here on the process may have started: on disk before the message is sent.
  auto intend = [instance = attempt.conversation.hello()->instance](TaskRecord&, AttemptRecord& record) {
    record.bind_intent = true;
    record.instance = instance;
  };
  co_await attempt.task.update(make_change(intend));
  const channel::Bind message{.attempt = attempt.task.attempt().id.str(),
                              .spec_bytes = spec.size(),
                              .spec_crc = crc32c(std::as_bytes(std::span(spec.data(), spec.size())))};
  auto bound = co_await attempt.conversation.send(std::string(channel::kBind), message.members(),
                                                  std::string(), deadline);
  if (!bound) co_return failed(bound.error(), Phase::run);
  co_return tl::expected<void, Failure>{};
}

}  // namespace

Step<> launch(Attempt& attempt) {
  auto image = co_await prepare(attempt);
  if (!image) co_return tl::unexpected(std::move(image.error()));
  std::string image_path = image->path;
  const Deadline deadline = Deadline::in(attempt.task.record().timeouts.start);
  auto step = check_stop(attempt);
  if (step) step = co_await create(attempt, std::move(*image), deadline);
  if (step) step = check_stop(attempt);
  if (step) step = co_await greet(attempt, deadline);
  if (step) step = co_await bind(attempt, std::move(image_path), deadline);
  co_return step;
}

}  // namespace mayfly
