// A stand-in for a Docker Engine that answers by script: given bytes, cut at any byte, held back until the
// test says so, closed in any way. Plain POSIX sockets and threads, so that it shares no code with the client
// it tests.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "support/temp_dir.hpp"

namespace mayfly::test {

// One thing the engine does in an answer, in order.
struct EngineStep {
  enum class Kind {
    send,        // `text`, `times` over
    wait_gate,   // until the test opens the gate named `text`
    read_input,  // until the client has sent `times` more bytes after its request (kept in `input()`)
    close,       // both directions
    half_close,  // no more from the engine, which still listens
    reset,       // TCP only: the client sees "connection reset"
  } kind = Kind::send;
  std::string text;
  std::size_t times = 1;
};
using EngineScript = std::vector<EngineStep>;

EngineStep send_bytes(std::string bytes, std::size_t times = 1);
EngineStep wait_gate(std::string name);
EngineStep read_input(std::size_t bytes);
EngineStep close_connection();
EngineStep half_close();
EngineStep reset_connection();

// "HTTP/1.1 200 OK" with a length and this body.
std::string json_answer(int status, std::string_view body);
EngineScript answer_json(int status, std::string_view body);
// The 101 that comes before an attached stream.
std::string upgrade_answer();
// One frame of the multiplexed stream.
std::string stdcopy_frame(unsigned char type, std::string_view payload);

struct SeenRequest {
  std::string method, target, head, body;
  // The target without version and query.
  std::string path() const;
};

// Thread safe. Every connection has a thread of its own, all joined by the destructor.
class ScriptedEngine {
 public:
  enum class Transport { unix_socket, tcp };
  explicit ScriptedEngine(Transport transport = Transport::unix_socket);
  ~ScriptedEngine();
  ScriptedEngine(const ScriptedEngine&) = delete;
  ScriptedEngine& operator=(const ScriptedEngine&) = delete;

  // In DOCKER_HOST's form.
  std::string address() const { return address_; }
  // "GET /containers/x/json" (without version and query) is answered by these scripts, one a request, the
  // last one again and again. What nobody scripted is a 404.
  void on(std::string method_and_path, std::vector<EngineScript> scripts);
  void open_gate(const std::string& name);

  std::vector<SeenRequest> requests() const;
  std::size_t count(std::string_view method_and_path) const;
  std::size_t connections() const;
  // What read_input steps have read.
  std::string input() const;
  // Completes when a connection stands at a gate of this name; false when none does within a minute.
  bool wait_until_at_gate(const std::string& name);
  // Closes every connection that is open now, as an engine that is restarted does.
  void drop_connections();

 private:
  struct Route {
    std::vector<EngineScript> scripts;
    std::size_t next = 0;
  };
  enum class After { next_request, closed };

  void listen_unix();
  void listen_tcp();
  void accept_all();
  void serve(int fd);
  void forget(int fd);
  EngineScript script_for(const SeenRequest& request);
  After play(int fd, const EngineScript& script, std::string& unread);
  After play_step(int fd, const EngineStep& step, std::string& unread);
  bool pass_gate(const std::string& name);
  bool take_input(int fd, std::size_t bytes, std::string& unread);

  int listener_ = -1;
  TempDir directory_;
  std::string address_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, Route> routes_;
  std::set<std::string> open_gates_;
  std::multiset<std::string> at_gates_;
  std::vector<SeenRequest> requests_;
  std::string input_;
  std::set<int> open_;
  std::size_t connections_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

}  // namespace mayfly::test
