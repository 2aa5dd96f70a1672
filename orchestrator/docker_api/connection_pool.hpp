// Keeps the engine's connections that are done with one call for the next. I/O thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "docker_api/engine_connection.hpp"

namespace mayfly::docker {

class ConnectionPool {
 public:
  ConnectionPool(asio::any_io_executor executor, EngineAddress address)
      : executor_(std::move(executor)), address_(std::move(address)) {}

  struct Lease {
    std::unique_ptr<EngineConnection> connection;
    bool reused = false;
    std::uint64_t generation = 0;  // in which it was opened
  };
  // An idle connection that the engine has not closed, or a new one.
  Async<Lease> acquire();
  Async<Lease> open();
  // Keeps the connection when it can carry another exchange and still leads to the engine of now. A lease
  // that is not given back closes its connection.
  void give_back(Lease lease);

  // A connection broke: the engine may be another one by now. Drops all idle ones.
  void forget_engine();
  // Grows by one each time the engine may have been replaced, also when it closed an idle connection.
  std::uint64_t generation() const { return generation_; }

 private:
  asio::any_io_executor executor_;
  EngineAddress address_;
  std::vector<std::unique_ptr<EngineConnection>> idle_;
  std::uint64_t generation_ = 0;
};

}  // namespace mayfly::docker
