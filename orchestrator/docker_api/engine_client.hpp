// Speaks Docker's Engine REST API over a Unix socket or TCP and nothing of our domain. All calls from the I/O
// thread; each opens or reuses a connection, ends by its deadline, and may be cancelled (the connection is
// then closed; the engine may still carry the request out). The client must outlive its calls, not its attach
// streams.
//
// Errors: engine_unreachable (no connection, cut answer), deadline_exceeded, not_found (404 on that object),
// conflict (409), invalid_argument (400, or a name that no engine object can have), engine_refused (any other
// status, with the engine's message, cut to 1 KiB), protocol (an answer that cannot be read, or is over its
// bound).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "async/task_types.hpp"
#include "docker_api/engine_address.hpp"
#include "docker_api/engine_types.hpp"
#include "docker_api/stdcopy_demux.hpp"

namespace mayfly::docker {

// The attached streams of a container, demultiplexed. The owner reads until end of file or closes: an attach
// that is alive and unread wedges the engine. One read and one write may run at the same time. All calls from
// the I/O thread.
class AttachStream {
 public:
  virtual ~AttachStream() = default;
  using Stream = OutputStream;
  struct Piece {
    Stream stream = Stream::out;
    std::size_t size = 0;  // 0: end of file
  };
  // The next bytes of one stream, at most into.size() (which is not 0). A frame may come in several pieces.
  // protocol for a bad frame type, a frame over 16 MiB, or an end inside a frame; engine_unreachable when the
  // connection breaks; cancelled after close(). A cancelled read loses nothing: the next one goes on where it
  // was.
  virtual Async<Piece> read(std::span<std::byte> into) = 0;
  // All of `data`. A cancelled or failed write may have sent a part of it.
  virtual Async<> write(std::span<const std::byte> data) = 0;
  // Both directions at once, idempotent; what is pending ends with an error.
  virtual void close() = 0;
};

enum class RemoveOutcome { removed, already_gone };

class EngineClient {
 public:
  virtual ~EngineClient() = default;

  // GET /version without a version, then the highest version both sides know. engine_refused with both ranges
  // when there is none. Every other call uses what was agreed on, and agrees anew by itself before its first
  // request and after a connection was lost, since another engine may have taken the place of the first.
  virtual Async<VersionInfo> negotiate(Deadline deadline) = 0;
  virtual std::string agreed_version() const = 0;
  virtual Async<> ping(Deadline deadline) = 0;
  virtual Async<SystemInfo> info(Deadline deadline) = 0;

  virtual Async<ImageInspect> inspect_image(std::string reference, Deadline deadline) = 0;

  // A dropped create completes all the same: after any doubt look for the name. conflict when the name is
  // taken.
  virtual Async<Created> create_container(std::string name, ContainerConfig config, Deadline deadline) = 0;
  virtual Async<ContainerInspect> inspect_container(std::string name, Deadline deadline) = 0;
  // Answered (101) when this returns, so the container can be started without losing the head of its output.
  virtual Async<std::unique_ptr<AttachStream>> attach(std::string name, Deadline deadline) = 0;
  // Runs an exited container again: callers inspect first after any doubt. Already running (304) is fine.
  virtual Async<> start_container(std::string name, Deadline deadline) = 0;
  // condition=not-running. Returns at once with 0 for a created container: only call it after start was
  // answered.
  virtual Async<int> wait_container(std::string name, Deadline deadline) = 0;
  virtual Async<> kill_container(std::string name, std::string signal,
                                 Deadline deadline) = 0;  // not running: fine
  // `warnings` of the answer are an error of the caller to judge.
  virtual Async<std::vector<std::string>> update_container(std::string name, UpdateConfig config,
                                                           Deadline deadline) = 0;
  // force=1&v=1. 204 and 404 are done; 409 (in progress) is polled until inspect says 404, or the deadline.
  virtual Async<RemoveOutcome> remove_container(std::string name, Deadline deadline) = 0;
  virtual Async<std::vector<ContainerSummary>> list_containers(std::string label, Deadline deadline) = 0;

  // 201 on an existing name comes with the old options: compare the answer with what was asked.
  virtual Async<VolumeInfo> create_volume(VolumeConfig config, Deadline deadline) = 0;
  virtual Async<VolumeInfo> inspect_volume(std::string name, Deadline deadline) = 0;
  virtual Async<RemoveOutcome> remove_volume(std::string name,
                                             Deadline deadline) = 0;  // conflict while in use
  virtual Async<std::vector<VolumeInfo>> list_volumes(std::string label, Deadline deadline) = 0;

  // PUT and GET /containers/{id}/archive (tar), used to fill and to read back the runner's volume.
  virtual Async<> put_archive(std::string name, std::string path, std::string tar, Deadline deadline) = 0;
  virtual Async<std::string> get_archive(std::string name, std::string path, std::size_t limit,
                                         Deadline deadline) = 0;
  // Loads or imports nothing else: images come with their own issue. POST /images/create?fromSrc=- for the
  // helper image that carries the runner volume (an empty root file system); returns its id.
  virtual Async<std::string> import_image(std::string repository, std::string tag, std::string tar,
                                          Deadline deadline) = 0;
};

// Called after each engine call with its endpoint ("containers/create"), result name and seconds: for
// metrics.
using CallObserver = std::function<void(std::string_view endpoint, std::string_view result, double seconds)>;

std::unique_ptr<EngineClient> make_engine_client(asio::any_io_executor executor, EngineAddress address,
                                                 CallObserver observer);

}  // namespace mayfly::docker
