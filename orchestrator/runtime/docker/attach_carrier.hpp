// The engine's attach as a carrier: stdout is the channel; what the runner writes to stderr goes to our log,
// bounded.
#pragma once

#include <memory>
#include <string>

#include "base/log.hpp"
#include "docker_api/engine_client.hpp"
#include "runtime/runtime.hpp"

namespace mayfly::docker {

class AttachCarrier final : public Carrier {
 public:
  AttachCarrier(std::unique_ptr<AttachStream> stream, Logger& log, SandboxId id);
  Async<std::size_t> read_some(std::span<std::byte> into) override;
  Async<> write(std::span<const std::byte> data) override;
  void close() override;

 private:
  void log_stderr(std::string_view bytes);

  std::unique_ptr<AttachStream> stream_;
  Logger& log_;
  SandboxId id_;
  std::string line_;        // of stderr, not yet ended
  std::size_t logged_ = 0;  // bytes of stderr so far
};

}  // namespace mayfly::docker
