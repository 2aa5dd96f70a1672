#include "channel/messages.hpp"

#include <array>

#include "channel/message_fields.hpp"

namespace mayfly::channel {
namespace {

constexpr std::array<std::pair<RunnerState, std::string_view>, 5> kStates{
    {{RunnerState::parked, "parked"},
     {RunnerState::bound, "bound"},
     {RunnerState::running, "running"},
     {RunnerState::stopping, "stopping"},
     {RunnerState::ended, "ended"}}};

RunnerState read_state(FieldReader& read) {
  const std::string text = read.text("state");
  for (const auto& [state, name] : kStates) {
    if (name == text) return state;
  }
  read.refuse("state \"" + text + "\" is unknown");
  return RunnerState::parked;
}

Reason read_reason(FieldReader& read, const char* key) {
  const std::string text = read.text(key);
  if (const auto reason = find_reason(text)) return *reason;
  read.refuse(std::string(key) + " \"" + text + "\" is unknown");
  return Reason::internal;
}

Json usage_to_json(const Usage& usage) {
  return {{"cpu_ms", usage.cpu_ms}, {"memory", usage.memory_bytes}, {"memory_peak", usage.memory_peak_bytes},
          {"pids", usage.pids},     {"pids_peak", usage.pids_peak}, {"stalled_ms", usage.stalled_ms}};
}

Usage read_usage(FieldReader& outer) {
  FieldReader read(outer.object("usage"));
  Usage usage;
  usage.cpu_ms = read.count("cpu_ms");
  usage.memory_bytes = read.count("memory");
  usage.memory_peak_bytes = read.count("memory_peak");
  usage.pids = read.count("pids");
  usage.pids_peak = read.count("pids_peak");
  usage.stalled_ms = read.count("stalled_ms");
  if (!read.ok()) outer.refuse("usage is incomplete");
  return usage;
}

Json self_to_json(const SelfReport& self) {
  return {{"uid", self.uid},
          {"gid", self.gid},
          {"cap_effective", self.cap_effective},
          {"cap_bounding", self.cap_bounding},
          {"no_new_privileges", self.no_new_privileges},
          {"seccomp_mode", self.seccomp_mode},
          {"interfaces", self.interfaces},
          {"dumpable", self.dumpable},
          {"pid", self.pid},
          {"cgroup_version", self.cgroup_version}};
}

SelfReport read_self(FieldReader& outer) {
  FieldReader read(outer.object("self"));
  SelfReport self;
  self.uid = static_cast<std::uint32_t>(read.count("uid"));
  self.gid = static_cast<std::uint32_t>(read.count("gid"));
  self.cap_effective = read.text("cap_effective");
  self.cap_bounding = read.text("cap_bounding");
  self.no_new_privileges = read.flag("no_new_privileges");
  self.seccomp_mode = static_cast<int>(read.integer("seccomp_mode"));
  for (const Json& name : read.array("interfaces")) {
    if (name.is_string()) self.interfaces.push_back(name.get<std::string>());
  }
  self.dumpable = read.flag("dumpable");
  self.pid = static_cast<int>(read.integer("pid"));
  self.cgroup_version = static_cast<int>(read.integer("cgroup_version"));
  if (!read.ok()) outer.refuse("self is incomplete");
  return self;
}

OutStream read_stream(FieldReader& read) {
  const std::uint64_t number = read.count("s");
  if (number != 1 && number != 2) read.refuse("s is neither 1 nor 2");
  return number == 2 ? OutStream::err : OutStream::out;
}

std::optional<int> read_optional(FieldReader& read, const char* key) {
  if (!read.has(key)) return std::nullopt;
  return static_cast<int>(read.integer(key));
}

}  // namespace

std::string_view name_of(RunnerState state) {
  return kStates.at(static_cast<std::size_t>(state)).second;
}

std::string Attach::members() const {
  return members_of({{"nonce", nonce}, {"got", got}});
}

Result<Attach> parse_attach(const Json& body) {
  FieldReader read(body);
  Attach attach{.nonce = read.text("nonce"), .got = read.count("got")};
  return read.finish("attach", std::move(attach));
}

std::string Hello::members() const {
  return members_of({{"nonce", nonce},
                     {"protocol", protocol},
                     {"build", build},
                     {"instance", instance},
                     {"state", name_of(state)},
                     {"attempt", attempt},
                     {"got", got},
                     {"sent", sent},
                     {"acked", acked},
                     {"self", self_to_json(self)}});
}

Result<Hello> parse_hello(const Json& body) {
  FieldReader read(body);
  Hello hello;
  hello.nonce = read.text("nonce");
  hello.protocol = static_cast<int>(read.integer("protocol"));
  hello.build = read.text("build");
  hello.instance = read.text("instance");
  hello.state = read_state(read);
  hello.attempt = read.text("attempt");
  hello.got = read.count("got");
  hello.sent = read.count("sent");
  hello.acked = read.count("acked");
  hello.self = read_self(read);
  return read.finish("hello", std::move(hello));
}

std::string Stop::members() const {
  return members_of({{"reason", name_of(reason)}, {"kill", kill}, {"grace_ms", grace_ms}});
}

Result<Stop> parse_stop(const Json& body) {
  FieldReader read(body);
  Stop stop{
      .reason = read_reason(read, "reason"), .kill = read.flag("kill"), .grace_ms = read.integer("grace_ms")};
  return read.finish("stop", stop);
}

std::string Started::members() const {
  return members_of({{"attempt", attempt}});
}

Result<Started> parse_started(const Json& body) {
  FieldReader read(body);
  Started started{.attempt = read.text("attempt")};
  return read.finish("started", std::move(started));
}

// On the path of every byte: by hand.
std::string Out::members() const {
  return "\"s\":" + std::to_string(static_cast<int>(stream)) + ",\"off\":" + std::to_string(offset);
}

Result<Out> parse_out(const Json& body) {
  FieldReader read(body);
  const Out out{.stream = read_stream(read), .offset = read.count("off")};
  return read.finish("out", out);
}

std::string Truncated::members() const {
  return members_of({{"kept", kept_bytes}});
}

Result<Truncated> parse_truncated(const Json& body) {
  FieldReader read(body);
  const Truncated truncated{.kept_bytes = read.count("kept")};
  return read.finish("truncated", truncated);
}

std::string LimitHitMessage::members() const {
  return members_of({{"limit", name_of(limit)}});
}

Result<LimitHitMessage> parse_limit_hit(const Json& body) {
  FieldReader read(body);
  const auto hit = find_limit_hit(read.text("limit"));
  if (!hit) read.refuse("limit is unknown");
  return read.finish("limit_hit", LimitHitMessage{.limit = hit.value_or(LimitHit::memory)});
}

std::string Ended::members() const {
  Json object{{"cause", name_of(end.cause)}, {"oom", end.oom_killed_main}, {"usage", usage_to_json(usage)},
              {"out_bytes", out_bytes},      {"err_bytes", err_bytes},     {"dropped", dropped_bytes},
              {"message", message}};
  object["exit"] = end.exit_code ? Json(*end.exit_code) : Json();
  object["signal"] = end.signal ? Json(*end.signal) : Json();
  return members_of(object);
}

Result<Ended> parse_ended(const Json& body) {
  FieldReader read(body);
  Ended ended;
  ended.end.exit_code = read_optional(read, "exit");
  ended.end.signal = read_optional(read, "signal");
  ended.end.cause = read_reason(read, "cause");
  ended.end.oom_killed_main = read.flag("oom");
  ended.usage = read_usage(read);
  ended.out_bytes = read.count("out_bytes");
  ended.err_bytes = read.count("err_bytes");
  ended.dropped_bytes = read.count("dropped");
  ended.message = read.text("message");
  if (ended.end.exit_code && ended.end.signal) read.refuse("both exit and signal");
  return read.finish("ended", std::move(ended));
}

std::string UsageMessage::members() const {
  return members_of({{"usage", usage_to_json(usage)}});
}

Result<UsageMessage> parse_usage(const Json& body) {
  FieldReader read(body);
  const UsageMessage message{.usage = read_usage(read)};
  return read.finish("usage", message);
}

}  // namespace mayfly::channel
