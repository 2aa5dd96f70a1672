// What every call to the engine has in common: a connection, the agreed version before its path, a deadline,
// one retry where it is safe, and the answer's status as a Result. I/O thread only; must outlive its calls.
#pragma once

#include "docker_api/connection_pool.hpp"
#include "docker_api/engine_client.hpp"
#include "docker_api/engine_error.hpp"

namespace mayfly::docker {

struct EngineCall {
  std::string_view endpoint;  // for metrics: a literal without names ("containers/create")
  std::string_view method;    // a literal
  std::string path;           // without the version, with the query
  std::string body{};
  std::string_view content_type = "application/json";
  std::size_t most_answer = kMostAnswer;
};

class EngineSession {
 public:
  EngineSession(asio::any_io_executor executor, EngineAddress address, CallObserver observer)
      : pool_(std::move(executor), std::move(address)), observer_(std::move(observer)) {}

  Async<VersionInfo> negotiate(Deadline deadline);
  const std::string& agreed_version() const { return agreed_version_; }

  // An answer of 2xx or 304; every other status is its error. A failed `call` is handed through.
  Async<HttpAnswer> call(Result<EngineCall> call, Deadline deadline);

  struct Hijacked {
    EngineSocket socket;
    std::vector<std::byte> head;  // what came right behind the 101
  };
  // On a connection of its own, answered with 101.
  Async<Hijacked> hijack(Result<EngineCall> call, Deadline deadline);

 private:
  Async<VersionInfo> negotiate_now();
  Async<VersionInfo> agree(EngineConnection& connection);
  Async<> agree_again(EngineConnection& connection);
  Async<HttpAnswer> perform(EngineCall call);
  Async<Hijacked> perform_hijack(EngineCall call);
  std::string versioned(std::string_view path) const { return "/v" + agreed_version_ + std::string(path); }
  // Puts the call before a failure's message, and tells the observer.
  struct Account {
    std::string_view endpoint;
    std::string what;
    MonoTime begun = std::chrono::steady_clock::now();
  };
  static Account open_account(const EngineCall& call);
  template <class T>
  Result<T> settle(const Account& account, Result<T> result);

  ConnectionPool pool_;
  CallObserver observer_;
  std::string agreed_version_;
  std::uint64_t agreed_generation_ = 0;  // of the pool, when the version was agreed on
};

}  // namespace mayfly::docker
