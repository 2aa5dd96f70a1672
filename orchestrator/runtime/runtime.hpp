// Where attempts run. lifecycle sees only this; docker/ (and later bubblewrap/, kubernetes/) stand behind it
// and pass one contract suite (tests/contract). All calls from the I/O thread; every call ends by its
// deadline.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "async/task_types.hpp"
#include "base/ids.hpp"
#include "task/limits.hpp"

namespace mayfly {

// A duplex byte stream to a sandbox's runner. The owner must keep reading until end of file or call close: an
// attach that is alive and unread wedges Docker's engine.
class Carrier {
 public:
  virtual ~Carrier() = default;
  // At least one byte, or 0 at end of file. Cancelling a read leaves the stream usable.
  virtual Async<std::size_t> read_some(std::span<std::byte> into) = 0;
  // All of it, or an error; at most one write at a time. A cancelled write leaves the stream unusable.
  virtual Async<> write(std::span<const std::byte> data) = 0;
  // At once, idempotent; a pending read or write ends with an error.
  virtual void close() = 0;
};

struct Image {
  std::string reference;               // as asked
  std::string id;                      // content address; sandboxes are created by it
  std::vector<std::string> volumes;    // paths that the image declares as volumes; covered with tmpfs
  std::vector<std::string> env_names;  // names of the variables that the image sets; removed
  std::string path{};  // the image's PATH, for tasks that set none; empty when it has none that can be used
};

// Everything that is fixed when a sandbox is created. Nothing of the task's command, environment, inputs or
// labels is here: those travel through the channel, so that a parked sandbox can serve any task of its size.
struct SandboxSpec {
  SandboxId id;
  Image image;
  Limits limits;
  Granted granted;
  Millis lifetime;  // after which a reaper may take it for an orphan
};

enum class SandboxState { created, running, paused, exited, removing, unknown };

struct SandboxStatus {
  SandboxState state = SandboxState::unknown;
  std::optional<int> exit_code;  // absent is "not known", never zero
  bool oom_killed = false;       // the engine's flag; set also when only a child was killed
  std::string detail;            // the engine's own words, for the message of a verdict
};

struct SandboxListing {
  SandboxId id;
  SandboxState state = SandboxState::unknown;
  bool ours = false;  // the signed label verifies with this installation's key
  std::string engine_id;
  bool has_container = false;
  bool has_volume = false;
};

enum class WorkspaceStorage { tmpfs, disk };

struct Capabilities {
  std::string backend;         // "docker"
  std::string engine_version;  // for people
  bool adoptable = false;      // a sandbox outlives its orchestrator
  bool late_limits = false;
  WorkspaceStorage workspace = WorkspaceStorage::tmpfs;
  Bytes workspace_max{};  // the largest size limit that the storage can hold
  std::int64_t node_millicpus = 0;
  Bytes node_memory{};
  std::vector<std::string> notes;  // what it cannot do and why ("disk quota: ext4 holds no size limit")
};

enum class Signal { term, kill };

class Runtime {
 public:
  virtual ~Runtime() = default;

  // Probes the backend (version, storage, runner volume) and makes it ready for sandboxes; safe to call again
  // after the engine went away. engine_unreachable when there is no answer.
  virtual Async<Capabilities> connect(Deadline deadline) = 0;
  // A cheap probe that cannot hang on one sick sandbox.
  virtual Async<> ping(Deadline deadline) = 0;

  // Resolves a local image. not_found when it is not there, invalid_argument for a reference that cannot be
  // one.
  virtual Async<Image> prepare(const std::string& reference, Deadline deadline) = 0;
  // Volume and container, hardened, compared with what was asked. On any error nothing is left (or the name
  // is returned by `list`). A name that exists with our signed label and equal configuration is adopted.
  virtual Async<std::string> create(const SandboxSpec& spec, Deadline deadline) = 0;  // the engine's id
  // Opens the carrier; answered before the sandbox starts.
  virtual Async<std::unique_ptr<Carrier>> channel(const SandboxId& id, Deadline deadline) = 0;
  virtual Async<> start(const SandboxId& id, Deadline deadline) = 0;
  virtual Async<SandboxStatus> inspect(const SandboxId& id, Deadline deadline) = 0;
  // Completes when it has exited. Never called before start was answered.
  virtual Async<SandboxStatus> wait(const SandboxId& id, Deadline deadline) = 0;
  // More processor for a sandbox that must answer while it is starved by its own task. Best effort.
  virtual Async<> raise_cpu(const SandboxId& id, std::int64_t millicpus, Deadline deadline) = 0;
  // A sandbox that is not running counts as done.
  virtual Async<> signal(const SandboxId& id, Signal signal, Deadline deadline) = 0;
  // Container, then volumes; waits until both are gone. Idempotent: what is not there is done.
  virtual Async<> destroy(const SandboxId& id, Deadline deadline) = 0;
  // Everything on the backend that carries Mayfly's label, ours and others'.
  virtual Async<std::vector<SandboxListing>> list(Deadline deadline) = 0;
};

}  // namespace mayfly
