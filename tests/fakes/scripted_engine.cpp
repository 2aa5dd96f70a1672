#include "fakes/scripted_engine.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <stdexcept>

namespace mayfly::test {

namespace {

constexpr std::chrono::minutes kCap{1};

bool send_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool receive_more(int fd, std::string& into) {
  char piece[16384];
  const ssize_t got = ::recv(fd, piece, sizeof piece, 0);
  if (got <= 0) return false;
  into.append(piece, static_cast<std::size_t>(got));
  return true;
}

std::size_t length_in(std::string_view head) {
  constexpr std::string_view kField = "Content-Length: ";
  const std::size_t at = head.find(kField);
  return at == std::string_view::npos ? 0 : std::stoul(std::string(head.substr(at + kField.size(), 12)));
}

// What comes behind the request stays in `unread`.
std::optional<SeenRequest> receive_request(int fd, std::string& unread) {
  std::size_t end = 0;
  while ((end = unread.find("\r\n\r\n")) == std::string::npos)
    if (!receive_more(fd, unread)) return std::nullopt;
  SeenRequest request;
  request.head = unread.substr(0, end + 4);
  const std::size_t whole = request.head.size() + length_in(request.head);
  while (unread.size() < whole)
    if (!receive_more(fd, unread)) return std::nullopt;
  request.body = unread.substr(request.head.size(), whole - request.head.size());
  unread.erase(0, whole);
  const std::size_t first = request.head.find(' ');
  const std::size_t second = request.head.find(' ', first + 1);
  request.method = request.head.substr(0, first);
  request.target = request.head.substr(first + 1, second - first - 1);
  return request;
}

[[noreturn]] void give_up(const char* what) {
  throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
}

}  // namespace

EngineStep send_bytes(std::string bytes, std::size_t times) {
  return {EngineStep::Kind::send, std::move(bytes), times};
}
EngineStep wait_gate(std::string name) {
  return {EngineStep::Kind::wait_gate, std::move(name), 1};
}
EngineStep read_input(std::size_t bytes) {
  return {EngineStep::Kind::read_input, {}, bytes};
}
EngineStep close_connection() {
  return {EngineStep::Kind::close, {}, 1};
}
EngineStep half_close() {
  return {EngineStep::Kind::half_close, {}, 1};
}
EngineStep reset_connection() {
  return {EngineStep::Kind::reset, {}, 1};
}

std::string json_answer(int status, std::string_view body) {
  return "HTTP/1.1 " + std::to_string(status) +
         " Scripted\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + std::string(body);
}

EngineScript answer_json(int status, std::string_view body) {
  return {send_bytes(json_answer(status, body))};
}

std::string upgrade_answer() {
  return "HTTP/1.1 101 UPGRADED\r\nContent-Type: application/vnd.docker.raw-stream\r\nConnection: Upgrade\r\n"
         "Upgrade: tcp\r\n\r\n";
}

std::string stdcopy_frame(unsigned char type, std::string_view payload) {
  std::string frame(8, '\0');
  frame[0] = static_cast<char>(type);
  for (std::size_t i = 0; i < 4; ++i) frame[7 - i] = static_cast<char>(payload.size() >> (8 * i) & 0xffU);
  return frame + std::string(payload);
}

std::string SeenRequest::path() const {
  std::string path = target.substr(0, target.find('?'));
  if (path.starts_with("/v1.")) path.erase(0, path.find('/', 1));
  return path;
}

ScriptedEngine::ScriptedEngine(Transport transport) {
  transport == Transport::tcp ? listen_tcp() : listen_unix();
  if (::listen(listener_, 64) != 0) give_up("listen");
  acceptor_ = std::thread([this] { accept_all(); });
}

ScriptedEngine::~ScriptedEngine() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  ::shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  drop_connections();
  for (std::thread& thread : threads_) thread.join();
  ::close(listener_);
}

void ScriptedEngine::listen_unix() {
  const std::string path = (directory_.path() / "engine.sock").string();
  address_ = "unix://" + path;
  listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  path.copy(name.sun_path, sizeof name.sun_path - 1);
  if (::bind(listener_, reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0) give_up("bind");
}

void ScriptedEngine::listen_tcp() {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof name;
  if (::bind(listener_, reinterpret_cast<const sockaddr*>(&name), size) != 0) give_up("bind");
  if (::getsockname(listener_, reinterpret_cast<sockaddr*>(&name), &size) != 0) give_up("getsockname");
  address_ = "tcp://127.0.0.1:" + std::to_string(ntohs(name.sin_port));
}

void ScriptedEngine::accept_all() {
  for (;;) {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) return;
    const std::lock_guard lock(mutex_);
    open_.insert(fd);
    ++connections_;
    threads_.emplace_back([this, fd] { serve(fd); });
  }
}

void ScriptedEngine::serve(int fd) {
  std::string unread;
  After after = After::next_request;
  while (after == After::next_request) {
    auto request = receive_request(fd, unread);
    if (!request) break;
    after = play(fd, script_for(*request), unread);
  }
  forget(fd);
}

void ScriptedEngine::forget(int fd) {
  const std::lock_guard lock(mutex_);
  open_.erase(fd);
  ::close(fd);
}

EngineScript ScriptedEngine::script_for(const SeenRequest& request) {
  const std::lock_guard lock(mutex_);
  requests_.push_back(request);
  const auto route = routes_.find(request.method + " " + request.path());
  if (route == routes_.end()) return answer_json(404, R"({"message":"page not found"})");
  auto& [scripts, next] = route->second;
  return scripts[std::min(next++, scripts.size() - 1)];
}

ScriptedEngine::After ScriptedEngine::play(int fd, const EngineScript& script, std::string& unread) {
  for (const EngineStep& step : script)
    if (play_step(fd, step, unread) == After::closed) return After::closed;
  return After::next_request;
}

ScriptedEngine::After ScriptedEngine::play_step(int fd, const EngineStep& step, std::string& unread) {
  bool open = true;
  switch (step.kind) {
    case EngineStep::Kind::send:
      for (std::size_t i = 0; open && i < step.times; ++i) open = send_all(fd, step.text);
      break;
    case EngineStep::Kind::wait_gate:
      open = pass_gate(step.text);
      break;
    case EngineStep::Kind::read_input:
      open = take_input(fd, step.times, unread);
      break;
    case EngineStep::Kind::close:
      open = false;
      break;
    case EngineStep::Kind::half_close:
      ::shutdown(fd, SHUT_WR);
      break;
    case EngineStep::Kind::reset: {
      // Over TCP only: there it is sent at once.
      const linger at_once{1, 0};
      ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
      open = false;
      break;
    }
  }
  return open ? After::next_request : After::closed;
}

bool ScriptedEngine::pass_gate(const std::string& name) {
  std::unique_lock lock(mutex_);
  const auto here = at_gates_.insert(name);
  changed_.notify_all();
  changed_.wait(lock, [&] { return stopping_ || open_gates_.count(name) > 0; });
  at_gates_.erase(here);
  return !stopping_;
}

bool ScriptedEngine::take_input(int fd, std::size_t bytes, std::string& unread) {
  while (unread.size() < bytes)
    if (!receive_more(fd, unread)) return false;
  const std::lock_guard lock(mutex_);
  input_ += unread.substr(0, bytes);
  unread.erase(0, bytes);
  return true;
}

void ScriptedEngine::on(std::string method_and_path, std::vector<EngineScript> scripts) {
  const std::lock_guard lock(mutex_);
  routes_[std::move(method_and_path)] = {std::move(scripts), 0};
}

void ScriptedEngine::open_gate(const std::string& name) {
  const std::lock_guard lock(mutex_);
  open_gates_.insert(name);
  changed_.notify_all();
}

std::vector<SeenRequest> ScriptedEngine::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

std::size_t ScriptedEngine::count(std::string_view method_and_path) const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(std::count_if(
      requests_.begin(), requests_.end(),
      [&](const SeenRequest& seen) { return seen.method + " " + seen.path() == method_and_path; }));
}

std::size_t ScriptedEngine::connections() const {
  const std::lock_guard lock(mutex_);
  return connections_;
}

std::string ScriptedEngine::input() const {
  const std::lock_guard lock(mutex_);
  return input_;
}

bool ScriptedEngine::wait_until_at_gate(const std::string& name) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, kCap, [&] { return at_gates_.count(name) > 0; });
}

void ScriptedEngine::drop_connections() {
  const std::lock_guard lock(mutex_);
  for (const int fd : open_) ::shutdown(fd, SHUT_RDWR);
}

}  // namespace mayfly::test
