#include "runner_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <span>

#include "base/crc32c.hpp"

namespace mayfly::test {
namespace {

constexpr std::size_t kOutbox = 8U << 20U;
constexpr int kCapMs = 60'000;
constexpr int kTurnMs = 50;

channel::Link make_link() {
  return channel::Link(channel::Outbox(kOutbox, 1024, channel::Outbox::Memory::lazy));
}

std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

RunnerProcess::RunnerProcess() : link_(make_link()) {
  std::filesystem::create_directory(workspace());
  std::filesystem::create_directory(scratch());
  int to[2], from[2];
  REQUIRE(::pipe2(to, O_CLOEXEC) == 0);
  REQUIRE(::pipe2(from, O_CLOEXEC) == 0);
  pid_ = ::fork();
  REQUIRE(pid_ >= 0);
  if (pid_ == 0) {
    ::dup2(to[0], 0);
    ::dup2(from[1], 1);
    ::execl(MAYFLY_RUNNER_BINARY, "mayfly-runner", "--workspace", workspace().c_str(), "--scratch",
            scratch().c_str(), nullptr);
    ::_exit(99);
  }
  ::close(to[0]);
  ::close(from[1]);
  to_ = to[1];
  from_ = from[0];
  ::signal(SIGPIPE, SIG_IGN);
}

// Releases the runner, which takes its task along; one that cannot hear any more is told by a signal.
RunnerProcess::~RunnerProcess() {
  if (pid_ > 0 && to_ >= 0 && link_.is_open()) {
    release();
    const std::string bytes(link_.output());
    [[maybe_unused]] const ssize_t written = ::write(to_, bytes.data(), bytes.size());
  } else if (pid_ > 0) {
    ::kill(pid_, SIGTERM);
  }
  close_input();
  for (int i = 0; pid_ > 0 && i < kCapMs / kTurnMs; ++i) {
    pollfd asked{from_, POLLIN, 0};
    std::string drained(64 * 1024, '\0');
    if (::poll(&asked, 1, kTurnMs) == 1 && ::read(from_, drained.data(), drained.size()) <= 0) break;
  }
  ::close(from_);
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void RunnerProcess::close_input() {
  if (to_ >= 0) ::close(to_);
  to_ = -1;
}

void RunnerProcess::send_raw(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(to_, bytes.data(), bytes.size());
    if (written < 0 && errno == EPIPE) return close_input();  // it has left
    REQUIRE(written > 0);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void RunnerProcess::flush() {
  while (to_ >= 0) {
    const std::string bytes(link_.output());
    if (bytes.empty()) return;
    link_.wrote(bytes.size());
    send_raw(bytes);
  }
}

bool RunnerProcess::turn() {
  flush();
  pollfd asked{from_, POLLIN, 0};
  if (::poll(&asked, 1, kTurnMs) == 1) {
    std::string buffer(64 * 1024, '\0');
    const ssize_t got = ::read(from_, buffer.data(), buffer.size());
    if (got <= 0) return false;
    link_.feed(std::string_view(buffer).substr(0, static_cast<std::size_t>(got)));
    while (const auto incoming = link_.next()) take(*incoming);
  }
  if (acknowledges) link_.acknowledge(taken);
  link_.on_tick(now_ms());
  flush();
  return true;
}

void RunnerProcess::take(const channel::Incoming& incoming) {
  if (incoming.number > 0) {
    REQUIRE(incoming.number == ++taken);
    if (incoming.method != channel::kOut || !has(channel::kOut) || methods.back() != channel::kOut) {
      methods.push_back(incoming.method);
    }
  }
  if (incoming.method == channel::kOut) {
    const auto message = channel::parse_out(incoming.body);
    REQUIRE(message);
    std::string& stream = message->stream == channel::OutStream::out ? out : err;
    REQUIRE(message->offset == stream.size());
    stream += incoming.payload;
  } else if (incoming.method == channel::kLimitHit) {
    limits.push_back(channel::parse_limit_hit(incoming.body)->limit);
  } else if (incoming.method == channel::kHello) {
    hellos.push_back(*channel::parse_hello(incoming.body));
  } else if (incoming.method == channel::kUsage) {
    usage = channel::parse_usage(incoming.body)->usage;
  } else if (incoming.method == channel::kEnded) {
    ended = *channel::parse_ended(incoming.body);
  } else if (incoming.request_id == last_request_) {
    answer_ = incoming;
  }
}

bool RunnerProcess::has(std::string_view method) const {
  return std::find(methods.begin(), methods.end(), method) != methods.end();
}

void RunnerProcess::until(const std::function<bool()>& holds, int line) {
  const auto end = now_ms() + kCapMs;
  while (!holds()) {
    if (!turn() && !holds()) FAIL("the runner left while line " << line << " waited");
    if (now_ms() > end) FAIL("in vain waited line " << line);
  }
}

void RunnerProcess::settle() {
  const channel::FilesRead nothing{.path = "nothing", .offset = 0, .length = 1};
  request(channel::kFilesRead, nothing.members());
}

int RunnerProcess::wait_for_exit(int line) {
  const auto end = now_ms() + kCapMs;
  int status = 0;
  while (::waitpid(pid_, &status, WNOHANG) != pid_) {
    turn();
    if (now_ms() > end) FAIL("the runner did not leave for line " << line);
  }
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void RunnerProcess::send_attach(std::uint64_t epoch, const std::string& nonce) {
  link_.begin_epoch(epoch);
  const channel::Attach attach{.nonce = nonce, .got = taken};
  link_.send_plain(channel::kAttach, attach.members());
  flush();
}

channel::Hello RunnerProcess::open() {
  ++epoch_;
  const std::string nonce = "nonce" + std::to_string(epoch_);
  send_attach(epoch_, nonce);
  until([&] { return !hellos.empty() && hellos.back().nonce == nonce; });
  link_.resume(hellos.back().got, taken);
  return hellos.back();
}

channel::Hello RunnerProcess::attach() {
  return open();
}

channel::Hello RunnerProcess::attach_as_successor() {
  link_ = make_link();
  return open();
}

void RunnerProcess::put(channel::PutTarget target, const std::string& bytes, const std::string& path) {
  if (target == channel::PutTarget::spec) spec_text_ += bytes;
  std::size_t offset = 0;
  do {
    const std::string_view piece = std::string_view(bytes).substr(offset, channel::kMaxPayloadBytes);
    const channel::Put message{.target = target, .path = path, .mode = 0644, .offset = offset};
    link_.send_numbered(channel::kPut, message.members(), piece);
    offset += piece.size();
  } while (offset < bytes.size());
}

void RunnerProcess::bind(const channel::BindSpec& spec, const std::string& attempt) {
  const std::string text = channel::dump_bind_spec(spec);
  put(channel::PutTarget::spec, text);
  const channel::Bind message{.attempt = attempt,
                              .spec_bytes = text.size(),
                              .spec_crc = crc32c(std::as_bytes(std::span(text.data(), text.size())))};
  link_.send_numbered(channel::kBind, message.members());
}

const channel::Ended& RunnerProcess::wait_for_end() {
  until([&] { return ended.has_value(); });
  return *ended;
}

const channel::Ended& RunnerProcess::run(const channel::BindSpec& spec) {
  if (hellos.empty()) attach();
  bind(spec);
  return wait_for_end();
}

void RunnerProcess::stop(const channel::Stop& stop) {
  link_.send_numbered(channel::kStop, stop.members());
}

void RunnerProcess::release() {
  link_.send_numbered(channel::kRelease, {});
}

channel::Incoming RunnerProcess::request(std::string_view method, const std::string& members) {
  answer_.reset();
  link_.send_request(++last_request_, method, members);
  until([&] { return answer_.has_value(); });
  return *answer_;
}

channel::BindSpec shell(const std::string& text) {
  channel::BindSpec spec;
  spec.argv = {"/bin/sh", "-c", text};
  spec.env = {{"PATH", "/usr/bin:/bin"}};
  spec.working_dir = "/";
  return spec;
}

std::vector<pid_t> living(const std::vector<pid_t>& pids) {
  std::vector<pid_t> found;
  for (const pid_t pid : pids) {
    if (::kill(pid, 0) == 0) found.push_back(pid);
  }
  return found;
}

std::vector<pid_t> pids_in(const std::string& directory) {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    pid_t pid = 0;
    if (std::ifstream(entry.path()) >> pid) found.push_back(pid);
  }
  return found;
}

}  // namespace mayfly::test
